/** A form with a preview: beside it on desktops, collapsible below it on phones. The preview is loaded after the form. */
import { lazy, type ReactNode, Suspense } from 'react'
import type { BotItem } from './bot-message.ts'
import classes from './form-preview.module.css'

// If the preview cannot be loaded, the form works without it.
const LazyBotPreview = lazy(() =>
  import('./bot-preview.tsx').then(
    ({ BotPreview }) => ({ default: BotPreview }),
    () => ({ default: NoPreview }),
  ),
)

export function FormWithPreview({ preview, children }: { preview: ReactNode; children: ReactNode }) {
  return (
    <div className={classes['columns']}>
      {children}
      <details open className={classes['preview']}>
        <summary>Preview in Telegram</summary>
        {preview}
      </details>
    </div>
  )
}

export function Preview({ item }: { item: BotItem }) {
  return (
    <Suspense fallback={<div className={classes['waiting']} />}>
      <LazyBotPreview item={item} />
    </Suspense>
  )
}

function NoPreview() {
  return <p>The preview could not be loaded.</p>
}
