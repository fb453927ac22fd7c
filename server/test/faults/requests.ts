/** Generates requests for every call of the contract from every kind of client: valid, almost valid and hostile ones. */
import fc from 'fast-check'
import { admitsBot } from '@arcade/contract/call'
import { contract } from '@arcade/contract/contract'
import { type Route, listRoutes } from '#src/http/routes.ts'
import { PASSWORD } from '#test/test-app.ts'
import { png } from '#test/test-images.ts'
import { change, changed, hostileBody, hostileValue, toJson, toText } from './hostile-values.ts'
import { wireValue } from './wire-values.ts'

/** `removed` is a session of a removed user, `ended` one that was signed out, `stranger` a bearer token that was never issued. */
export const principals = ['guest', 'user', 'admin', 'bot', 'removed', 'ended', 'stranger'] as const
export type Principal = (typeof principals)[number]

export interface GeneratedRequest {
  /** The call that the request was generated for. Its method and path may lead to another one. */
  call: string
  principal: Principal
  method: string
  path: string
  query: [name: string, value: string][]
  body: string | Uint8Array | undefined
  headers: Record<string, string>
}

export const routes = listRoutes(contract)

/** Generates a placeholder for the n-th value of a pool, which `resolved` fills in when the request is sent. */
export function known(pool: Pool): fc.Arbitrary<string> {
  return fc.nat(19).map((n) => `known-${pool}-${n}`)
}

/** Names of three pools about a few changed records: their ids, the numbers of their newest audit entries, and their versions. */
function changedPools<const Group extends string>(group: Group) {
  return [`${group}Changed`, `${group}Entries`, `${group}Versions`] as const
}

export const pools = [
  'users',
  'socialTasks',
  'dailyTasks',
  'announcements',
  'history',
  'players',
  'playerTexts',
  'emails',
  'files',
  'pictures',
  'links',
  'cursors',
  'socialOrder',
  'dailyOrder',
  'views',
  'notes',
  'removedNotes',
  'botTokens',
  'webhooks',
  'deliveries',
  'webhookOfDelivery',
  'broadcasts',
  'trash',
  'deletions',
  'acts',
  ...changedPools('users'),
  ...changedPools('socialTasks'),
  ...changedPools('dailyTasks'),
  ...changedPools('announcements'),
] as const
export type Pool = (typeof pools)[number]

/** Replaces the placeholders of `known` in a path, a query or a body. */
export function resolved(text: string, find: (pool: Pool, n: number) => unknown, write: (value: unknown) => string): string {
  const name = `known-(${pools.join('|')})-(\\d+)`
  return text
    .replaceAll(new RegExp(`(?<!\\\\)"${name}"`, 'g'), (_, pool: Pool, n: string) => toJson(find(pool, Number(n))))
    .replaceAll(new RegExp(name, 'g'), (_, pool: Pool, n: string) => write(find(pool, Number(n))))
}

function requestFor(route: Route): fc.Arbitrary<GeneratedRequest> {
  return fc
    .record({
      principal: fc.oneof(
        { weight: 5, arbitrary: fc.constant(allowedPrincipal(route)) },
        { weight: 5, arbitrary: fc.constantFrom(...principals) },
      ),
      value: inputFor(route),
      params: fc.dictionary(fc.constantFrom(...paramNames(route)), hostileValue.map(toText)),
      hasHostileParams: rarely(15),
      method: fc.oneof(
        { weight: 19, arbitrary: fc.constant(route.method as string) },
        fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'),
      ),
      headers: fc.oneof({ weight: 6, arbitrary: fc.constant({}) }, oddHeaders),
      rawBody: hostileBody,
      hasRawBody: rarely(12),
      extraQuery: fc.array(
        fc.tuple(fc.constantFrom('page', 'sort', 'search', 'x', '__proto__', 'constructor'), hostileValue.map(toText)),
        {
          maxLength: 2,
        },
      ),
      hasExtraQuery: rarely(12),
    })
    .map(({ principal, value, params, hasHostileParams, method, headers, rawBody, hasRawBody, extraQuery, hasExtraQuery }) => {
      const fields = (typeof value === 'object' && value !== null ? { ...value } : {}) as Record<string, unknown>
      const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
        const param = (hasHostileParams ? params[name] : undefined) ?? toText(fields[name] ?? 'none')
        delete fields[name]
        return encoded(param)
      })
      const rest = typeof value === 'object' && value !== null && !Array.isArray(value) ? fields : value
      const carriesBody = route.method !== 'GET' && route.method !== 'DELETE'
      const query = carriesBody && !route.isUpload ? [] : queryOf(route.isUpload ? fields['query'] : rest)
      return {
        call: route.name,
        principal,
        method,
        path,
        query: hasExtraQuery ? [...query, ...extraQuery] : query,
        body: !carriesBody ? undefined : hasRawBody ? rawBody : route.isUpload ? png : toJson(rest),
        headers: { ...(carriesBody && { 'content-type': route.isUpload ? 'image/png' : 'application/json' }), ...headers },
      }
    })
}

/** Returns a principal that may make the call: the bot for calls of the game, else an admin. */
function allowedPrincipal({ meta: { access } }: Route): Principal {
  return !access.includes('admin') && admitsBot(access, 'admin') ? 'bot' : 'admin'
}

const rarely = (oneIn: number): fc.Arbitrary<boolean> =>
  fc.oneof({ weight: oneIn - 1, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) })

function paramNames(route: Route): [string, ...string[]] {
  return ['', ...[...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)]
}

function inputFor({ name, inputSchema }: Route): fc.Arbitrary<unknown> {
  if (!inputSchema) return fc.constant({})
  const good = wireValue(inputSchema, (field) => proposals(name, field))
  return fc.oneof(
    { weight: 5, arbitrary: good },
    {
      weight: 4,
      arbitrary: fc
        .tuple(good, fc.array(change, { minLength: 1, maxLength: 2 }))
        .map(([value, changes]) => changes.reduce(changed, value)),
    },
    { weight: 1, arbitrary: fc.dictionary(fc.string({ maxLength: 12 }), hostileValue, { maxKeys: 4 }) },
  )
}

/** Proposes values for a field of a call, such as ids of existing records, which the schema does not know. */
function proposals(call: string, field: string): fc.Arbitrary<unknown> | undefined {
  const [group = ''] = call.split('.')
  const never = fc.constant(undefined)
  // These three fields must belong to the same record. Each pool has only two values, so they often do by chance.
  if (call.endsWith('.restoreVersion') && (field === 'id' || field === 'seq' || field === 'version')) {
    const kind = { id: 'Changed', seq: 'Entries', version: 'Versions' }[field]
    return fc.nat(1).map((n) => `known-${group}${kind}-${n}`)
  }
  switch (field) {
    case 'deliveryId':
      return fc.nat(1).map((n) => `known-deliveries-${n}`)
    case 'url':
      return fc.constant('https://bot.example/hook')
    case 'announcementId':
      return known('announcements')
    case 'from':
    case 'to':
      return call === 'calendar.list'
        ? fc.constant(field === 'from' ? '2026-11-01T00:00:00Z' : '2026-12-01T00:00:00Z')
        : undefined
    case 'id':
    case 'ids':
      if (call === 'webhooks.replay') return fc.nat(1).map((n) => `known-webhookOfDelivery-${n}`)
      if (group === 'players') return known('playerTexts')
      if (group === 'notes' && field === 'id') return fc.oneof(known('playerTexts'), known('announcements'))
      if (group === 'account') return call === 'account.createPasswordLink' ? known('users') : undefined
      return known(['downloads', 'history', 'ledger'].includes(group) ? 'history' : (group as Pool))
    case 'noteId':
      return known(call === 'notes.restore' ? 'removedNotes' : 'notes')
    case 'mentions':
      return fc.constant([])
    case 'actId':
      return known(group === 'acts' ? 'acts' : 'deletions')
    case 'confirmation':
    case 'userId':
      return known('players')
    case 'players':
      return fc.array(fc.record({ userId: known('players'), firstName: fc.string(), email: fc.constant(null) }), {
        minLength: 1,
        maxLength: 4,
      })
    case 'upTo':
      return fc.constant(0)
    case 'cause':
      return fc.constantFrom('round', 'hat')
    case 'entryId':
      return known('players').map((userId) => `${userId}-2`)
    case 'reference':
      return fc.nat(19).map((n) => `r-${n}`)
    case 'email':
      return call === 'auth.login' ? known('emails') : undefined
    case 'currentPassword':
    case 'password':
    case 'confirmPassword':
      return fc.constant(PASSWORD)
    case 'image':
    case 'icon':
      return fc.oneof(known('files'), fc.constant(null))
    case 'name':
      if (call === 'game.file') return known('pictures')
      return call === 'announcements.file' ? known('files') : undefined
    case 'after':
    case 'before':
      return fc.oneof(known('cursors'), never)
    case 'tasks':
      return fc
        .uniqueArray(fc.nat(5), { minLength: 2, maxLength: 4 })
        .map((numbers) => numbers.map((n) => `known-${call.startsWith('social') ? 'social' : 'daily'}Order-${n}`))
    case 'link':
      return group === 'account' ? known('links') : fc.oneof(fc.webUrl(), fc.constant(''))
    case 'reversed':
      return fc.constantFrom('true', 'false')
    case 'search':
      return fc.oneof(fc.constantFrom('a', 'an', 'ann', '@a', '7', '名'), never)
    case 'address':
      return fc.constantFrom('', 'q=moon&rows=normal')
    case 'setup':
    case 'expected':
      return never
    case 'version':
      return fc.oneof(fc.integer({ min: 1, max: 3 }), never)
    default:
      return undefined
  }
}

const oddHeaders: fc.Arbitrary<Record<string, string>> = fc.oneof(
  fc
    .constantFrom(
      'text/plain',
      'application/json; charset=utf-16',
      'multipart/form-data',
      'APPLICATION/JSON ;x',
      '',
      'image/svg+xml',
    )
    .map((type) => ({
      'content-type': type,
    })),
  fc.constantFrom('cross-site', 'same-site', 'same-origin', 'none', 'x').map((site) => ({ 'sec-fetch-site': site })),
  fc.constantFrom('null', 'https://elsewhere.test', 'x', '').map((origin) => ({ origin })),
  fc
    .constantFrom('', 'session=', 'session=x; session=y', '__Host-session=x', ';;;=', 'a'.repeat(4000))
    .map((cookie) => ({ cookie })),
  fc.constantFrom('"a"', 'a', '', '"', 'k'.repeat(300)).map((key) => ({ 'idempotency-key': key })),
  fc.constantFrom('bytes=0-', 'bytes=5-1', '"x"').map((range) => ({ range, 'if-none-match': range })),
  fc
    .constantFrom('10.0.0.1', 'x', '::1, 1.2.3.4')
    .map((address) => ({ 'x-forwarded-for': address, 'x-forwarded-host': address })),
)

function queryOf(value: unknown): [string, string][] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, part]): [string, string][] =>
    // A hostile array may have another `constructor`, which its own `map` would use for the result.
    Array.isArray(part) ? Array.from(part, (one): [string, string] => [name, toText(one)]) : [[name, toText(part)]],
  )
}

/** Generates a request. All calls are equally likely. */
export const generatedRequest: fc.Arbitrary<GeneratedRequest> = fc.oneof(...routes.map(requestFor))

/** Generates a request to one of the calls with these names. */
export function requestsTo(names: readonly string[]): fc.Arbitrary<GeneratedRequest> {
  return fc.oneof(...routes.filter(({ name }) => names.includes(name)).map(requestFor))
}

/** Encodes a part of a path as a browser does. For a lone surrogate, which has no encoding, it returns the bytes of one. */
export function encoded(text: string): string {
  return text.isWellFormed() ? encodeURIComponent(text) : '%ED%A0%80'
}
