/** The build of the web app. The contract's schemas stay out of the first load: the client gets its paths and verbs only. */
import { resolve } from 'node:path'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin, runnerImport } from 'vite'

const CONTRACT_ROUTES = 'virtual:contract-routes'

/** What §7 serves outside /api. */
const backendPaths = [
  '/api',
  '/downloadUsersData',
  '/downloadTelegramUsersData',
  '/download-history',
  '/registerUser',
  '/removeUser',
  '/update-users-status',
]

const target = process.env['API_TARGET'] ?? 'http://127.0.0.1:3000'

export default defineConfig({
  plugins: [react(), contractRoutes()],
  server: { proxy: Object.fromEntries(backendPaths.map((path) => [path, { target }])) },
  build: {
    outDir: process.env['WEB_OUT_DIR'] ?? 'dist',
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    rolldownOptions: {
      // A declaration of a call has no effect by itself: a page that needs one schema gets one schema.
      treeshake: { manualPureFunctions: ['call', 'z', 'oc'] },
    },
  },
})

/** The contract as the browser needs it at run time; `contract-routes.d.ts` has its type. */
function contractRoutes(): Plugin {
  return {
    name: 'contract-routes',
    resolveId: (id) => (id === CONTRACT_ROUTES ? `\0${CONTRACT_ROUTES}` : undefined),
    async load(id) {
      if (id !== `\0${CONTRACT_ROUTES}`) return undefined
      const { module, dependencies } = await runnerImport<{ contract: object }>('@arcade/contract/contract')
      for (const file of dependencies) this.addWatchFile(resolve(file))
      return `export const contractRoutes = ${JSON.stringify(routesOf(module.contract))}`
    },
  }
}

interface Procedure {
  '~orpc': { route: { method?: string; path?: string; inputStructure?: string; outputStructure?: string } }
}

function routesOf(node: object): object {
  if (!isProcedure(node)) return Object.fromEntries(Object.entries(node).map(([key, child]) => [key, routesOf(child)]))
  const { method, path, inputStructure, outputStructure } = node['~orpc'].route
  return { '~orpc': { errorMap: {}, meta: {}, route: { method, path, inputStructure, outputStructure } } }
}

function isProcedure(node: object): node is Procedure {
  return '~orpc' in node
}
