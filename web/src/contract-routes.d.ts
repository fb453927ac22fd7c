/** The contract without its schemas, made by vite.config.ts. */
declare module 'virtual:contract-routes' {
  import type { contract } from '@arcade/contract/contract'

  /** For paths and verbs only: no schema is there at run time. */
  export const contractRoutes: typeof contract
}
