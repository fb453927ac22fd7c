/** The access matrix: every call of the contract × everyone who might try it (security.md, Authorization). */
import { describe, expect, test } from 'vitest'
import { type Access, admitsBot } from '@arcade/contract/call'
import { contract } from '@arcade/contract/contract'
import { type BotScope, botScopes } from '@arcade/contract/bot-tokens/fields'
import { type Role, roles } from '@arcade/contract/team/fields'
import { missingPermission } from '@arcade/contract/team/missing-permission'
import { defaultRoleSettings, permissionLabels, permissions, permissionsOf } from '@arcade/contract/team/permissions'
import { type Client, testApp } from '#test/test-app.ts'
import { pathPattern, listRoutes } from './routes.ts'

const routes = listRoutes(contract)
const scopes = Object.keys(botScopes) as BotScope[]
type Route = (typeof routes)[number]

const heldBy = (role: Role) => permissionsOf(role, defaultRoleSettings[role])
const mark = (isHeld: boolean): string => (isHeld ? '✓' : '')

/** Returns the permission that a call needs. If a call needs only one of several, they are joined by "or". */
function neededBy({ meta: { needs } }: Route): string {
  return [needs ?? []].flat().join(' or ')
}

function hasBody({ method }: Route): boolean {
  return method !== 'GET' && method !== 'DELETE'
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

describe('§6 access matrix', () => {
  test('every call declares who may make it, and a call for admins also the permission that it needs', () => {
    expect(routes.length).toBeGreaterThan(10)
    for (const { meta, name } of routes) {
      expect(meta.access, name).not.toHaveLength(0)
      expect(meta.needs !== undefined, name).toBe(meta.access.includes('admin'))
    }
  })

  test('§6 docs/access-matrix.md lists who may make which call', async () => {
    const who = ['guest', 'user', 'admin', ...scopes.map((scope) => `bot: ${scope}` as const), 'player'] as const
    const mayCall = (access: readonly Access[], kind: (typeof who)[number]) =>
      access.includes('guest') ||
      (kind.startsWith('bot:') ? admitsBot(access, kind.slice('bot: '.length) as BotScope) : access.includes(kind as Access)) ||
      (kind === 'admin' && access.includes('user'))
    const titleOf = (access: readonly Access[]): string => {
      const callers = who.filter((kind) => mayCall(access, kind))
      return callers.length === who.length ? 'everybody' : callers.join(', ')
    }
    const sections = Array.from(
      Map.groupBy(routes, ({ meta }) => titleOf(meta.access)),
      ([title, calls]) => {
        const shown = ({ method, path, meta }: Route) =>
          `\`${method} ${path}\`${meta.heedsIdempotencyKey ? ' (key)' : ''}${meta.stepUp ? ' (step-up)' : ''}`
        const lines =
          title === 'admin'
            ? [
                '| permission | calls |\n|---|---|\n',
                ...Array.from(
                  Map.groupBy(calls, neededBy),
                  ([needed, those]) => `| ${needed} | ${those.map(shown).join(', ')} |\n`,
                ),
              ]
            : calls.map((route) => `- ${shown(route)}${neededBy(route) && `: an admin needs ${neededBy(route)}`}\n`)
        return `## ${title}\n\n${lines.join('')}`
      },
    )
    const head = `# Access matrix

Who may make which call. \`server/src/http/access.test.ts\` writes this document from the contract and tries every call as every
caller: ${who.join(', ')}. A call marked (key) accepts an \`Idempotency-Key\`; one
marked (step-up) asks people who have a second factor to prove it again after ten minutes.

An admin has a role, and a role is a set of permissions. A call needs the permission beside which it stands, or one of several; then it
also checks the permission of the record. Columns O, M, E, R and A: Owner, Manager, Editor, Reviewer and Analyst.

| permission | | O | M | E | R | A |
|---|---|---|---|---|---|---|
${permissions.map((one) => `| ${one} | ${permissionLabels[one]} | ${roles.map((role) => mark(heldBy(role).includes(one))).join(' | ')} |\n`).join('')}
\`players.personal\` is a setting of each role but Owner. Of the roles only Analyst lacks it until an owner changes that.
`
    await expect([head, ...sections].join('\n')).toMatchFileSnapshot('../../../docs/access-matrix.md')
  })

  test.each(routes.filter(({ meta }) => meta.needs !== undefined))(
    '$method $path is only for roles that have its permission',
    async (route) => {
      const app = await testApp()
      for (const role of roles) {
        const path = route.path.replaceAll(/\{\w+\}/g, 'none')
        const client = await app.signUp(role)
        const { status, body } = await client.call(route.method, path, hasBody(route) ? {} : undefined)
        const missing = missingPermission(route.meta.needs!, heldBy(role))
        const named = /lacks the permission .* \((.*)\)/.exec(body?.message ?? '')?.[1]
        expect({ role, named, isRefused: [401, 403].includes(status) }).toEqual({
          role,
          named: missing,
          isRefused: missing !== undefined,
        })
      }
    },
  )

  test.each(routes)('§6 $method $path is only for those it names', async (route) => {
    const app = await testApp()
    const [admin, user, removed] = [await app.signUp('admin'), await app.signUp('user'), await app.signUp('user')]
    await admin.call('DELETE', `/removeUser/${removed.id}`)
    const path = route.path.replaceAll(/\{\w+\}/g, 'none')
    const isFor = (kind: 'user' | 'admin') => route.meta.access.includes('guest') || route.meta.access.includes(kind)
    const expectRefused = async (client: Client, status: number) => {
      const answer = await client.call(route.method, path, hasBody(route) ? {} : undefined)
      expect(answer.status, `${route.name} as ${status === 401 ? 'a guest' : 'another'}`).toBe(status)
      expect(Object.keys(answer.body).toSorted()).toEqual(expect.arrayContaining(['code', 'message', 'requestId', 'success']))
      expect(answer.body.success === false || answer.body.success === 'failed').toBe(true)
    }
    const expectAdmitted = async (client: Client) => {
      const answer = await client.call(route.method, path, hasBody(route) ? {} : undefined)
      // Nobody here has begun a sign-in that waits for the second factor, which the handler says.
      if (answer.body?.code === 'SIGN_IN_EXPIRED') return
      expect([401, 403], `${route.name} ${answer.status}`).not.toContain(answer.status)
    }
    if (!route.meta.access.includes('guest')) {
      await expectRefused(app.guest, 401)
      await expectRefused(removed, 401)
    }
    if (isFor('user')) await expectAdmitted(user)
    else await expectRefused(user, 403)
    for (const scope of scopes) {
      const bot = await app.bot(undefined, scope)
      if (route.meta.access.includes('guest') || admitsBot(route.meta.access, scope)) await expectAdmitted(bot)
      else await expectRefused(bot, 403)
    }
    if (isFor('user') || isFor('admin')) await expectAdmitted(admin)
    else await expectRefused(admin, 403)
    if (route.meta.access.includes('guest') || route.meta.access.includes('player')) await expectAdmitted(app.player(7))
    else await expectRefused(app.player(7), 403)
  })

  test('§6 a path refuses every other method', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    for (const path of new Set(routes.map((route) => route.path))) {
      for (const method of methods) {
        const address = path.replaceAll(/\{\w+\}/g, 'none')
        if (routes.some((route) => route.method === method && pathPattern(route.path).test(address))) continue
        const answer = await admin.call(method, address)
        expect(answer.status, `${method} ${path}`).toBe(405)
      }
    }
  })

  test.each(['/API/users', '/api//users', '/api/users/', '/api/Users', '//api/users', '/api/%75sers/../users', '/api/users%2f'])(
    '§6 %s does not reach a call',
    async (path) => {
      const app = await testApp()
      const answer = await app.guest.call('GET', path)
      expect(answer.body).not.toHaveProperty('users')
      expect([401, 404]).toContain(answer.status)
    },
  )

  test('§6 an unknown bot token, or one sent in another way, is a guest', async () => {
    const app = await testApp()
    for (const authorization of ['Bearer nope', 'Bearer ', 'Basic YTpi', `Bearer arcade_${'A'.repeat(43)}`]) {
      expect((await app.guest.call('GET', '/api/users', undefined, { authorization })).status).toBe(401)
    }
  })
})
