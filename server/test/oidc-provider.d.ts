/** The package has no types. These are the parts that the tests use. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  export interface ProviderContext {
    oidc: {
      client: { clientId: string }
      session: { accountId: string }
      provider: Provider
    }
  }

  export interface Grant {
    addOIDCScope(scope: string): void
    save(): Promise<string>
  }

  export class Provider {
    constructor(issuer: string, configuration: Record<string, unknown>)
    readonly Grant: new (of: { clientId: string; accountId: string }) => Grant
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>
    interactionFinished(request: IncomingMessage, response: ServerResponse, result: Record<string, unknown>): Promise<void>
  }
}

declare module 'oidc-provider/lib/adapters/memory_adapter.js' {
  const MemoryAdapter: new (model: string) => object
  export default MemoryAdapter
}
