/** Starts the app: theme, cache of answers, session, routes. */
import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import '#src/ui/styles.css'
import { queryClient } from './client.ts'
import { App, loadFirstPage } from './routes.tsx'
import { startSession } from './session.tsx'
import { cssVariablesResolver, theme } from '#src/ui/theme.ts'
import { Toasts } from '#src/ui/toast.tsx'

// zod tries `new Function` unless told not to, and the CSP forbids and reports that. Pages bring the schemas, so this comes before them.
Object.assign(globalThis, { __zod_globalConfig: { jitless: true } })

const container = document.querySelector('#app')
if (!container) throw new Error('index.html has no #app')

startSession()
await loadFirstPage().catch(() => {}) // the router will fail in the same way, and shows a page for it

createRoot(container).render(
  <StrictMode>
    <MantineProvider theme={theme} cssVariablesResolver={cssVariablesResolver} defaultColorScheme="auto">
      <QueryClientProvider client={queryClient}>
        <Toasts />
        <App />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
)
