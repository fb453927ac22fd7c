/** The contract's paths and methods without its schemas. vite.config.ts generates this module. */
declare module 'virtual:contract-routes' {
  import type { contract } from '@arcade/contract/contract'

  /** Typed as the whole contract, but at run time it has paths and methods only. */
  export const contractRoutes: typeof contract
  /** Each call's own text for an unexpected failure (§8), by its path in the contract: `users.list`. */
  export const failureTexts: Readonly<Record<string, string>>
}
