/**
 * The layout of a form's page: the form, whose buttons stay in view, and what goes with it beside it, or below it where there is no room:
 * the history of the record and a preview.
 */
import type { BotItem } from '@arcade/contract/bot-message'
import { createContext, type ReactNode, use, useState } from 'react'
import { createPortal } from 'react-dom'
import { BotPreview } from './bot-preview.tsx'
import classes from './form-page.module.css'
import { Panel } from './page.tsx'

/** The hint at Duplicate: any item can serve as a template. */
export const COPY_HINT = 'Opens the form with a copy, without dates. Nothing is added before you save it.'

/** The element beside the form into which `Preview` renders. */
const AsideSlot = createContext<HTMLElement | null>(null)

/**
 * @param aside what stands beside the form, and stays when the form begins anew with another version of its record. Parts that grow when
 * their data are loaded come last: they would move the others from under the pointer.
 */
export function FormWithAside({ aside, children }: { aside?: ReactNode; children: ReactNode }) {
  const [slot, setSlot] = useState<HTMLElement | null>(null)
  return (
    <div className={classes['columns']}>
      <div className={classes['main']}>
        <AsideSlot value={slot}>{children}</AsideSlot>
      </div>
      <div className={classes['aside']}>
        <div ref={setSlot} className={classes['slot']} />
        {aside}
      </div>
    </div>
  )
}

/** A panel with a form, whose buttons stay in view while it is longer than the window. */
export function FormPanel({ children }: { children: ReactNode }) {
  return (
    <div className={classes['panel']}>
      <Panel>{children}</Panel>
    </div>
  )
}

interface PreviewProps {
  item: BotItem
  /** The message is that of a broadcast, which has a button more. */
  isBroadcast?: boolean
}

/** Shows the bot's message beside the form that it is rendered in. */
export function Preview({ item, isBroadcast = false }: PreviewProps) {
  const slot = use(AsideSlot)
  if (!slot) return null
  return createPortal(
    <details open className={classes['preview']}>
      <summary>Preview in Telegram</summary>
      <BotPreview item={item} isBroadcast={isBroadcast} />
    </details>,
    slot,
  )
}
