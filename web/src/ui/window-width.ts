/** The widths at which pages look different, as in the style sheets. */
import { useSyncExternalStore } from 'react'

/** Returns a hook that tells whether the window matches a media query. All components share one query, because each would take time. */
export function windowMatches(query: string): () => boolean {
  const list = matchMedia(query)
  const subscribe = (notify: () => void) => {
    list.addEventListener('change', notify)
    return () => list.removeEventListener('change', notify)
  }
  return () => useSyncExternalStore(subscribe, () => list.matches)
}

/** Whether the window is that of a phone: rows of lists are cards, and panes are sheets. */
export const useIsPhone = windowMatches('(width < 40em)')
