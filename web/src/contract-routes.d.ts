/** The contract without its schemas; vite.config.ts makes it. */
declare module 'virtual:contract-routes' {
  import type { contract } from '@arcade/contract/contract'

  /** At run time there are paths and verbs, but no schemas. */
  export const contractRoutes: typeof contract
  /** What a call says when it fails without an answer of the server's (§8), by its place in the contract: `users.list`. */
  export const failureTexts: Readonly<Record<string, string>>
}
