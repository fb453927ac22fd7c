/** Starts the app: theme, query cache, session and routes. */
import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { flushSync } from 'react-dom'
import { createRoot } from 'react-dom/client'
import '@fontsource-variable/inter/wght.css'
import '#src/ui/styles.css'
import { App, loadFirstScreen } from './app.tsx'
import { queryClient } from '#src/client/client.ts'
import { startSession } from './session.tsx'
import { cssVariablesResolver, theme } from '#src/ui/theme.ts'
import { Toasts } from '#src/ui/toast.tsx'
import { watchTranslation } from '#src/ui/translation.ts'

// zod tests for eval with `new Function` unless `jitless` is set; the CSP blocks and reports that. Set it before any page loads a schema.
Object.assign(globalThis, { __zod_globalConfig: { jitless: true } })

const container = document.querySelector('#app')
if (!container) throw new Error('index.html has no #app')

watchTranslation()
startSession()
await loadFirstScreen().catch(() => {}) // the app fails in the same way and shows an error page

const root = createRoot(container)
// Render synchronously: otherwise React lets the browser paint the loading screen once more.
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

// The server lists files to prefetch: those for toasts and, on Login, those of the next page, so that it shows right after signing in.
const ahead = document.querySelector<HTMLTemplateElement>('#fetch-ahead')
if (ahead) (globalThis.requestIdleCallback ?? setTimeout)(() => document.head.append(ahead.content))
