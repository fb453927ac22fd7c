import type { AnyContractProcedure, AnyContractRouter } from '@orpc/contract'
import { z } from 'zod'
import { expect, test } from 'vitest'
import type { CallMeta } from './call.ts'
import { contract } from './contract.ts'
import { defaultFileNames } from '#src/downloads/calls.ts'
import { errorCatalogue } from './errors.ts'

interface Call {
  name: string
  method: string | undefined
  path: string
  summary: string | undefined
  tags: readonly string[]
  meta: CallMeta
  input: z.ZodType | undefined
  output: unknown
}

const calls = callsOf(contract, '')
const callAt = (method: string, path: string) => calls.find((call) => call.method === method && call.path === path)

function callsOf(part: AnyContractRouter, name: string): Call[] {
  if (!isCall(part))
    return Object.entries(part).flatMap(([key, child]) => callsOf(child as AnyContractRouter, name ? `${name}.${key}` : key))
  const { route, meta, inputSchema, outputSchema } = part['~orpc']
  const { method, path = '', summary, tags = [] } = route
  return [
    {
      name,
      method,
      path,
      summary,
      tags,
      meta,
      input: inputSchema as z.ZodType | undefined,
      output: outputSchema,
    },
  ]
}

function isCall(part: AnyContractRouter): part is AnyContractProcedure {
  return '~orpc' in part
}

test.for([
  ['GET', '/downloadUsersData', ['admin']],
  ['DELETE', '/removeUser/{id}', ['admin']],
  ['GET', '/downloadTelegramUsersData', ['admin']],
  ['POST', '/download-history', ['admin']],
  ['POST', '/registerUser', ['admin']],
  ['GET', '/update-users-status', ['admin', 'bot:play']],
] as const)('§7 %s %s is for %j', ([method, path, access]) => {
  expect(callAt(method, path)?.meta.access).toEqual(access)
})

test('§7 all other paths start with /api, or /bot for the game', () => {
  const backend = calls.filter(({ path }) => !/^\/(api|bot\/v1)\//.test(path)).map(({ path }) => path)
  expect(backend.toSorted()).toEqual(
    [
      '/download-history',
      '/downloadTelegramUsersData',
      '/downloadUsersData',
      '/registerUser',
      '/removeUser/{id}',
      '/update-users-status',
    ].toSorted(),
  )
})

test('§6 a guest may only sign in, in one step or two, sign out, register, ask for a new password and use a link', () => {
  const open = calls.filter(({ meta }) => meta.access.includes('guest')).map(({ method, path }) => `${method} ${path}`)
  expect(open.toSorted()).toEqual([
    'DELETE /api/session',
    'GET /api/session',
    'POST /api/email-link',
    'POST /api/forgotten-password',
    'POST /api/invitation',
    'POST /api/password-link',
    'POST /api/register',
    'POST /api/session',
    'POST /api/session/oidc',
    'POST /api/session/oidc/begin',
    'POST /api/session/passkey',
    'POST /api/session/passkey-options',
    'POST /api/session/second-factor',
    'POST /api/session/second-factor/passkey',
    'POST /api/session/second-factor/passkey-options',
    'POST /api/setup-link',
    'PUT /api/email-link',
    'PUT /api/invitation',
    'PUT /api/password-link',
  ])
})

test.for(calls)('§6 $name declares access, method, path, summary, tag, output and a status 500', (call) => {
  expect(call.meta.access.length).toBeGreaterThan(0)
  expect(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']).toContain(call.method)
  expect(call.path).toMatch(/^(\/([\w-]+|\{\w+\}))+$/)
  expect(call.summary).toMatch(/^[A-Z].{5,}[^.]$/)
  expect(call.tags).toHaveLength(1)
  expect(call.output).toBeDefined()
  expect(errorCatalogue[call.meta.unexpected].status).toBe(500)
})

test.for(calls.filter(({ path }) => path.includes('{')))('§7 $name requires the parameters of its path', ({ path, input }) => {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
  const missing = input?.safeParse({}).error?.issues.map(({ path: at }) => at.join('.')) ?? []
  for (const name of names) expect(missing).toContain(name)
})

// §7 lets callers of this call send additional fields.
const strict = calls.filter(({ name, input }) => input && name !== 'downloads.history')

test.for(strict)('$name refuses unknown fields', ({ input }) => {
  const unknown = { nobodyKnowsThis: '1' }
  const { error } = input?.safeParse({ ...unknown, list: 'users', query: unknown, body: {} }) ?? {}
  expect(JSON.stringify(error?.issues)).toContain('nobodyKnowsThis')
})

test('no two calls have the same method and path', () => {
  const addresses = calls.map(({ method, path }) => `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`)
  expect(new Set(addresses).size).toBe(addresses.length)
})

test('security: the only GET that changes something is the status update', () => {
  expect(calls.filter(({ meta }) => meta.changesState).map(({ path }) => path)).toEqual(['/update-users-status'])
})

test.for([
  ['users.create', 'status'],
  ['users.remove', 'status'],
  ['downloads.users', 'status'],
  ['downloads.players', 'status'],
  ['downloads.history', 'status'],
  ['announcements.updateUsersStatus', 'success'],
  ['announcements.create', 'error'],
  ['announcements.update', 'error'],
  ['announcements.remove', 'error'],
  ['announcements.toggleStatus', 'error'],
] as const)('§7, §8 a failure of %s has the format %s', ([name, failure]) => {
  expect(calls.find((call) => call.name === name)?.meta.failure).toBe(failure)
})

test.for([
  ['users.list', 'Error fetching users!'],
  ['socialTasks.list', 'Error fetching tasks!'],
  ['dailyTasks.list', 'Error fetching tasks!'],
  ['socialTasks.create', 'Internal Server Error!'],
  ['announcements.list', 'Error fetching annoucements!'],
  ['dashboard.get', 'Error calculating metrics'],
  ['auth.logout', 'Error logging out!'],
] as const)('§8 an unexpected failure of %s says %s', ([name, message]) => {
  const code = calls.find((call) => call.name === name)?.meta.unexpected
  expect(code && errorCatalogue[code].message).toBe(message)
})

test('§7, §9 the default file names of downloads', () => {
  expect(defaultFileNames).toEqual({ users: 'userdata.xlsx', players: 'TelegramUserdata.xlsx', history: 'data.xlsx' })
})
