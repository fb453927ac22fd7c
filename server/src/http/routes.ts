/** Lists the contract's calls with their handlers, for the router and for the access matrix. */
import type { AnyContractProcedure, AnyContractRouter } from '@orpc/contract'
import type { ZodType } from 'zod'
import type { CallMeta } from '@arcade/contract/call'
import type { CallContext, Handlers } from '#src/calls.ts'

export interface Route {
  /** The call's name, such as `users.remove`. */
  name: string
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** The path as in the contract, such as `/removeUser/{id}`. */
  path: string
  meta: CallMeta
  inputSchema: ZodType | undefined
  /** Whether the output has headers and a stream instead of JSON. */
  isDownload: boolean
  /** Whether the body is a file; the input is then `{query, body}` with its bytes. */
  isUpload: boolean
}

export interface BoundRoute extends Route {
  handler: (input: unknown, context: CallContext) => Promise<unknown>
}

/** Returns every call of a contract. @throws Error for a call without method, path or access, which nobody could make */
export function listRoutes(router: AnyContractRouter, prefix = ''): Route[] {
  if (!isProcedure(router))
    return Object.entries(router).flatMap(([key, part]) => listRoutes(part, prefix ? `${prefix}.${key}` : key))
  const { route, meta, inputSchema } = router['~orpc']
  const callMeta = meta as unknown as CallMeta
  if (!route.method || !route.path || callMeta.access.length === 0)
    throw new Error(`the call ${prefix} lacks a method, a path or an access`)
  return [
    {
      name: prefix,
      method: route.method as Route['method'],
      path: route.path,
      meta: callMeta,
      inputSchema: inputSchema as ZodType | undefined,
      isDownload: route.outputStructure === 'detailed',
      isUpload: route.inputStructure === 'detailed',
    },
  ]
}

/** Returns a pattern for the URL-encoded paths that match a path of the contract. */
export function pathPattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
}

/** Returns every call of a contract with its handler. */
export function bindRoutes<Router extends AnyContractRouter>(router: Router, handlers: Handlers<Router>): BoundRoute[] {
  return listRoutes(router).map((route) => ({ ...route, handler: handlerAt(handlers, route.name) }))
}

function handlerAt(handlers: unknown, name: string): BoundRoute['handler'] {
  const handler = name.split('.').reduce<unknown>((part, key) => (part as Record<string, unknown>)[key], handlers)
  return handler as BoundRoute['handler']
}

function isProcedure(router: AnyContractRouter): router is AnyContractProcedure {
  return '~orpc' in router
}
