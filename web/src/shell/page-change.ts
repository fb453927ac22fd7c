/** Tells what is around the pages that another page is shown. */
import { useRouter } from '@tanstack/react-router'
import { useEffect, useEffectEvent } from 'react'

/** Calls a function when another page is shown, also after Back; not when only the search parameters have changed. */
export function useOnOtherPage(onOtherPage: () => void): void {
  const router = useRouter()
  const handleOtherPage = useEffectEvent(onOtherPage)
  useEffect(() => router.subscribe('onResolved', ({ pathChanged }) => void (pathChanged && handleOtherPage())), [router])
}
