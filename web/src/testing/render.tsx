/** Renders a component as the app does: with its theme, in strict mode, with confirmations and toasts. */
import { MantineProvider } from '@mantine/core'
import { type ReactNode, StrictMode } from 'react'
import { flushSync } from 'react-dom'
import { createRoot, type Root } from 'react-dom/client'
import { ConfirmProvider } from '#src/ui/confirm.tsx'
import { cssVariablesResolver, theme } from '#src/ui/theme.ts'
import { Toasts } from '#src/ui/toast.tsx'

const mounted = new Map<Root, HTMLElement>()

/** Renders `ui` synchronously. Returns a function that renders other content in its place, as a React update. */
export function render(ui: ReactNode): (ui: ReactNode) => void {
  const container = document.body.appendChild(document.createElement('div'))
  const root = createRoot(container)
  mounted.set(root, container)
  const show = (content: ReactNode): void =>
    flushSync(() =>
      root.render(
        <StrictMode>
          <MantineProvider theme={theme} cssVariablesResolver={cssVariablesResolver} defaultColorScheme="light">
            <ConfirmProvider>
              <Toasts />
              {content}
            </ConfirmProvider>
          </MantineProvider>
        </StrictMode>,
      ),
    )
  show(ui)
  return show
}

export function unmountAll(): void {
  for (const [root, container] of mounted) {
    root.unmount()
    container.remove()
  }
  mounted.clear()
}
