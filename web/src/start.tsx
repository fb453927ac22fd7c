/** Starts the app: theme, cache of answers, session, routes. */
import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { flushSync } from 'react-dom'
import { createRoot } from 'react-dom/client'
import '#src/ui/styles.css'
import { App, loadFirstScreen } from './app.tsx'
import { queryClient } from './client.ts'
import { startSession } from './session.tsx'
import { cssVariablesResolver, theme } from '#src/ui/theme.ts'
import { Toasts } from '#src/ui/toast.tsx'

// zod tries `new Function` unless told not to, and the CSP forbids and reports that. Pages bring the schemas, so this comes before them.
Object.assign(globalThis, { __zod_globalConfig: { jitless: true } })

const container = document.querySelector('#app')
if (!container) throw new Error('index.html has no #app')

startSession()
await loadFirstScreen().catch(() => {}) // the app will fail in the same way, and shows a page for it

const root = createRoot(container)
// At once: React would let the browser paint the loading screen again before it begins.
flushSync(() =>
  root.render(
    <StrictMode>
      <MantineProvider theme={theme} cssVariablesResolver={cssVariablesResolver} defaultColorScheme="auto">
        <QueryClientProvider client={queryClient}>
          <Toasts />
          <App />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  ),
)

// The server names the files that are needed later: those of toasts, and on Login those of the page that follows, so that signing in does
// not wait for them.
const ahead = document.querySelector<HTMLTemplateElement>('#fetch-ahead')
if (ahead) (globalThis.requestIdleCallback ?? setTimeout)(() => document.head.append(ahead.content))
