/** Opens the dialog of an act that the palette asked for. */
import { useLocation, useNavigate } from '@tanstack/react-router'
import { useEffect, useEffectEvent } from 'react'
import type { AskedAct } from '#src/lists/player-link.tsx'

/** Calls `open` once if the palette asked for the act: not again after Back or a reload. */
export function useAskedAct(act: AskedAct, open: () => void): void {
  const asked = useLocation({ select: ({ state }) => state.asks })
  const navigate = useNavigate()
  const answer = useEffectEvent(() => {
    void navigate({ to: '.', search: true, replace: true, resetScroll: false, state: {} })
    open()
  })
  useEffect(() => {
    if (asked === act) answer()
  }, [asked, act])
}
