/** Starts the app: theme, cache of answers, session, routes. */
import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import './ui/styles.css'
import { queryClient } from '#src/client.ts'
import { App } from '#src/routes.tsx'
import { cssVariablesResolver, theme } from '#src/ui/theme.ts'
import { toastRegion } from '#src/ui/toast.ts'

// zod would try `new Function`, which the CSP forbids and reports. Schemas come with the pages, so this is before all of them.
Object.assign(globalThis, { __zod_globalConfig: { jitless: true } })

const container = document.querySelector('#app')
if (!container) throw new Error('index.html has no #app')

createRoot(container).render(
  <StrictMode>
    <MantineProvider theme={theme} cssVariablesResolver={cssVariablesResolver} defaultColorScheme="auto">
      <QueryClientProvider client={queryClient}>
        <Notifications {...toastRegion} />
        <App />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
)
