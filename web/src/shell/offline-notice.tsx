/** Says that the browser is offline, so that the page may be out of date and changes cannot be saved. */
import { useSyncExternalStore } from 'react'
import classes from './shell.module.css'

function subscribe(listener: () => void): () => void {
  window.addEventListener('online', listener)
  window.addEventListener('offline', listener)
  return () => {
    window.removeEventListener('online', listener)
    window.removeEventListener('offline', listener)
  }
}

export function OfflineNotice() {
  const isOnline = useSyncExternalStore(subscribe, () => navigator.onLine)
  return (
    <output className={classes['offline']} data-shown={!isOnline || undefined}>
      {!isOnline && 'You are offline. What you see may be old, and nothing can be saved until the connection is back.'}
    </output>
  )
}
