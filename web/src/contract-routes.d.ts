/** The contract without its schemas; vite.config.ts makes it. */
declare module 'virtual:contract-routes' {
  import type { contract } from '@arcade/contract/contract'

  /** At run time there are paths and verbs, but no schemas. */
  export const contractRoutes: typeof contract
}
