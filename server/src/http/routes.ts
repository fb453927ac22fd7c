/** The contract as a flat list of calls with their handlers: what the router is built from, and the access matrix's source. */
import type { AnyContractProcedure, AnyContractRouter } from '@orpc/contract'
import type { ZodType } from 'zod'
import type { CallMeta } from '@arcade/contract/call'
import type { CallContext, Handlers } from '#src/calls.ts'

export interface Route {
  /** `users.remove`, say. */
  name: string
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** As in the contract: `/removeUser/{id}`. */
  path: string
  meta: CallMeta
  inputSchema: ZodType | undefined
  /** The output carries headers and a stream instead of JSON. */
  isDownload: boolean
  /** The body is a file as it is, and the input `{query, body}` with its bytes. */
  isUpload: boolean
}

export interface BoundRoute extends Route {
  handler: (input: unknown, context: CallContext) => Promise<unknown>
}

/** Every call of a contract. @throws Error for a call without method, path or access: it could not be made by anyone */
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

/** Matches the paths that a path of the contract stands for, as they come: encoded. */
export function pathPattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
}

/** Every call of a contract with its handler. */
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
