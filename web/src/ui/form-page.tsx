/**
 * The layout of a form's page: the form, whose buttons stay in view, and what goes with it beside it, or below it where there is no room:
 * the history of the record and a preview. The preview is loaded after the form.
 */
import { lazy, type ReactNode, Suspense } from 'react'
import type { BotItem } from './bot-message.ts'
import classes from './form-page.module.css'
import { Panel } from './page.tsx'

// If the preview cannot be loaded, the form works without it.
const LazyBotPreview = lazy(() =>
  import('./bot-preview.tsx').then(
    ({ BotPreview }) => ({ default: BotPreview }),
    () => ({ default: NoPreview }),
  ),
)

/** @param aside what stands beside the form */
export function FormWithAside({ aside, children }: { aside: ReactNode; children: ReactNode }) {
  return (
    <div className={classes['columns']}>
      <div className={classes['main']}>{children}</div>
      <div className={classes['aside']}>{aside}</div>
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

export function Preview({ item }: { item: BotItem }) {
  return (
    <details open className={classes['preview']}>
      <summary>Preview in Telegram</summary>
      <Suspense fallback={<div className={classes['waiting']} />}>
        <LazyBotPreview item={item} />
      </Suspense>
    </details>
  )
}

function NoPreview() {
  return <p>The preview could not be loaded.</p>
}
