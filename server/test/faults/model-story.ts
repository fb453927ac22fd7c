/** Generates stories: acts of several callers, one after another, repeated, two at once, or during a `kill -9`. */
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { expect } from 'vitest'
import type { Route } from '#src/http/routes.ts'
import type { ModelRequest, Body, Caller, CallName, Command, RequestBuilder, Model, Outcome } from './model.ts'
import { refusalOf } from './model.ts'
import { accountCommands, authCommands } from './model-account.ts'
import { announcementCommands } from './model-announcements.ts'
import { type Answer, learnIds, type ModelConsole, stateOf } from './model-console.ts'
import { dashboardCommands, downloadCommands, historyCommands, userCommands } from './model-people.ts'
import { playerCommands } from './model-players.ts'
import { taskCommands } from './model-tasks.ts'
import { actCommands, trashCommands } from './model-trash.ts'
import { viewCommands } from './model-views.ts'
import { routes } from './requests.ts'

/** Each call of the contract has a command, or a text that says why it has none. */
type Commands = { [Group in CallName as Group extends `${infer Name}.${string}` ? Name : never]: unknown }
type CommandsOf<Group extends keyof Commands> = {
  [Name in CallName as Name extends `${Group}.${infer Call}` ? Call : never]: Command | string
}

const NOT_MODELLED = 'the model only counts the acts in the audit trail, after each step; audit.test.ts'
const NO_BACKUPS = 'stories set no schedule and make no backup; backup/backups.test.ts'
const NOT_RESTORED = 'the model does not know the numbers of audit entries; features/audit/versions.test.ts'
const NOT_FOR_PLAYERS = 'the model does not change players; features/players/blocks.test.ts and erase.test.ts'
const ONLY_IMPORTED = 'participations come by imports only; players.test.ts'
const TOKENS_OF_OTHERS = 'the model has one bot, whose token never changes; features/bot-tokens/bot-tokens.test.ts'
const NO_DATES = 'the model has no dates; features/tasks/tasks-availability.test.ts and announcements-schedule.test.ts'
const NOT_COPIED = 'the model does not know what a copy is called; tasks-availability.test.ts and announcements-schedule.test.ts'
const datesOfTasks = { shift: NO_DATES, end: NO_DATES, pause: NO_DATES, duplicate: NOT_COPIED }
const NO_MOVE_IN = 'no move-in is in a story; move-in/move-in-again.test.ts'
const NOT_SENT = 'stories send nothing to other servers; features/webhooks/webhooks.test.ts'
const NO_BROADCASTS = 'stories have no Telegram; features/broadcasts/broadcasts.test.ts'
const NO_PICTURES = 'the model does not know which pictures players may load; features/game/game.test.ts'
const NO_GAME = 'the model has no game that makes these calls; features/game/game.test.ts'
const NO_LEDGER = 'the model has no ledger'
const NO_BALANCES = `${NO_LEDGER}; ledger/adjustments.test.ts`
const NO_TELEGRAM = 'the model has no Telegram accounts; features/account/telegram.test.ts'
const NO_NOTES = 'the model knows no notes; features/notes/notes.test.ts'
const NO_MAIL = 'stories have no mail server; features/emails/emails.test.ts'
const NO_INVITATIONS = 'the model has no invitations; features/invitations/invitations.test.ts'
const NO_FACTOR = 'nobody in the model has a second factor; second-factor.test.ts'
const NO_PASSKEYS = 'the model has no authenticator; features/passkeys/passkeys.test.ts'
const NO_ROLES = 'all admins of the model are owners; team.test.ts'
const commands: { [Group in keyof Commands]: CommandsOf<Group> } = {
  auth: { ...authCommands, setupLink: 'the model always has an admin, so no set-up link works; auth.test.ts' },
  account: {
    ...accountCommands,
    endSession: 'sessions have no ids in the model; account.test.ts',
    createTelegramCode: NO_TELEGRAM,
    telegram: NO_TELEGRAM,
    unlinkTelegram: NO_TELEGRAM,
  },
  emails: allOf('emails', NO_MAIL),
  invitations: allOf('invitations', NO_INVITATIONS),
  secondFactor: allOf('secondFactor', NO_FACTOR),
  oidc: allOf('oidc', 'stories have no sign-in service; features/oidc/oidc.test.ts'),
  passkeys: allOf('passkeys', NO_PASSKEYS),
  users: { ...userCommands, setRole: NO_ROLES, restoreVersion: NOT_RESTORED },
  team: { roles: NO_ROLES, setSettings: NO_ROLES, ownLimits: NO_ROLES },
  dashboard: {
    ...dashboardCommands,
    activity: `${ONLY_IMPORTED}; activity.test.ts`,
    today: `${ONLY_IMPORTED}; today.test.ts`,
    look: 'today.test.ts',
    alerts: 'nothing goes wrong in stories; alerts.test.ts',
    events: 'a stream of what the dashboard, History and a player’s page show; live.test.ts',
  },
  socialTasks: { ...taskCommands('social'), ...datesOfTasks, restoreVersion: NOT_RESTORED },
  dailyTasks: { ...taskCommands('daily'), ...datesOfTasks, restoreVersion: NOT_RESTORED },
  announcements: { ...announcementCommands, shift: NO_DATES, end: NO_DATES, duplicate: NOT_COPIED, restoreVersion: NOT_RESTORED },
  calendar: { list: NO_DATES },
  players: {
    ...playerCommands,
    standing: 'the model has no ranks; player.test.ts',
    participations: ONLY_IMPORTED,
    block: NOT_FOR_PLAYERS,
    unblock: NOT_FOR_PLAYERS,
    erase: NOT_FOR_PLAYERS,
  },
  history: { ...historyCommands, participants: ONLY_IMPORTED },
  downloads: {
    ...downloadCommands,
    history: ONLY_IMPORTED,
    progress: 'only a running download has progress; download.test.ts',
  },
  views: viewCommands,
  audit: {
    list: NOT_MODELLED,
    count: NOT_MODELLED,
    ofRecord: NOT_MODELLED,
  },
  backups: { state: NO_BACKUPS, start: NO_BACKUPS, verify: NO_BACKUPS, cancel: NO_BACKUPS },
  trash: trashCommands,
  acts: actCommands,
  botTokens: {
    list: TOKENS_OF_OTHERS,
    create: TOKENS_OF_OTHERS,
    rotate: TOKENS_OF_OTHERS,
    endPrevious: TOKENS_OF_OTHERS,
    revoke: TOKENS_OF_OTHERS,
  },
  game: {
    upsertMany: NO_GAME,
    upsert: NO_GAME,
    player: NO_GAME,
    tasks: NO_GAME,
    announcements: NO_GAME,
    file: NO_PICTURES,
    seen: NO_GAME,
  },
  broadcasts: allOf('broadcasts', NO_BROADCASTS),
  notes: allOf('notes', NO_NOTES),
  webhooks: allOf('webhooks', NOT_SENT),
  ledger: {
    claim: `${NO_LEDGER}; ledger/claims.test.ts`,
    enter: `${NO_LEDGER}; ledger/game-entries.test.ts`,
    adjust: `${NO_LEDGER}; ledger/adjustments.test.ts`,
    reverse: `${NO_LEDGER}; ledger/adjustments.test.ts`,
    entries: `${NO_LEDGER}; features/ledger.test.ts`,
    leaderboard: `${NO_LEDGER}; features/ledger.test.ts`,
  },
  messages: { linkOperator: NO_TELEGRAM, setMessages: 'the model has no broadcasts; features/messages.test.ts' },
  fromBefore: { get: NO_MOVE_IN, ofParticipation: NO_MOVE_IN },
  balances: { entries: NO_BALANCES, adjust: NO_BALANCES, reverse: NO_BALANCES },
}

/** An act of one caller. */
interface Act {
  name: CallName
  /** Its index in the model's callers. */
  caller: number
  buildRequest: RequestBuilder
}

type Step = fc.AsyncCommand<Model, ModelConsole>

const KILL_WITHIN_MS = 40
const isChange = (name: CallName): boolean => {
  const { method, meta } = routeOf(name)
  return (method !== 'GET' || meta.changesState) && !name.startsWith('downloads.')
}
const guestGroups = ['auth', 'account']
const anyAct = actsOf(() => true)
const anyChange = actsOf(isChange)
// Without the account's calls: two simultaneous changes of one password both accept the old one, and which one won is not known.
const pairedChange = actsOf((name) => isChange(name) && !name.startsWith('account.'))
const signedInChange = actsOf((name) => isChange(name) && !guestGroups.includes(groupOf(name)))
const creation = actsOf((name) => routeOf(name).meta.heedsIdempotencyKey)
// Two changes of the same kind of record conflict more often than any two changes.
const pairs = fc.oneof(
  fc.tuple(pairedChange, pairedChange),
  ...['users', 'socialTasks', 'dailyTasks', 'announcements', 'trash'].map((group) => {
    const change = actsOf((name) => isChange(name) && groupOf(name) === group)
    return fc.tuple(change, change)
  }),
)

// Acts that `undoing` can take back. A step runs both, since otherwise undoing would find almost nothing to undo.
const undoable = actsOf(
  (name) => /\.(remove|removeMany|prioritise|reorder|toggleStatus|setStatus)$/.test(name) && !name.startsWith('views.'),
)
const undoing = actsOf((name) => ['trash', 'acts'].includes(groupOf(name)))

function routeOf(name: CallName): Route {
  return routes.find((route) => route.name === name)!
}

/** Returns the same reason for all calls of a group. */
function allOf<Group extends keyof Commands>(group: Group, reason: string): CommandsOf<Group> {
  const names = routes.filter(({ name }) => name.startsWith(`${group}.`)).map(({ name }) => name.slice(group.length + 1))
  return Object.fromEntries(names.map((name) => [name, reason])) as CommandsOf<Group>
}

function groupOf(name: CallName): string {
  return name.split('.')[0]!
}

function actsOf(isWanted: (name: CallName) => boolean): fc.Arbitrary<Act> {
  const all = Object.entries(commands).flatMap(([group, calls]) =>
    Object.entries(calls as Record<string, Command | string>).flatMap(([call, command]) => {
      const name = `${group}.${call}` as CallName
      if (typeof command === 'string' || !isWanted(name)) return []
      // Only browsers have sessions, so the bot (caller 3) does not make these calls.
      const caller = guestGroups.includes(group) ? fc.nat(2) : fc.constantFrom(0, 0, 0, 1, 1, 1, 2, 3)
      return fc.record({ name: fc.constant(name), caller, buildRequest: command.acts })
    }),
  )
  return fc.oneof(...all)
}

export type Story = Iterable<Step>

export function stories(maxCommands: number): fc.Arbitrary<Story> {
  const step = fc.oneof(
    { weight: 60, arbitrary: anyAct.map((act) => storyStep('', (story) => runOnce(story, act))) },
    { weight: 8, arbitrary: anyChange.map((act) => storyStep('twice: ', (story) => runTwice(story, act))) },
    {
      weight: 16,
      arbitrary: fc.tuple(undoable, undoing).map(([act, back]) =>
        storyStep('and back: ', async (story) => {
          await runOnce(story, act)
          await runOnce(story, back)
        }),
      ),
    },
    {
      weight: 20,
      arbitrary: pairs.map(([one, other]) => {
        const differs = one.caller === other.caller ? { ...other, caller: one.caller === 0 ? 1 : 0 } : other
        return storyStep('at once: ', (story) => runTogether(story, [one, differs]))
      }),
    },
    {
      weight: 8,
      arbitrary: fc
        .tuple(creation, creation, fc.boolean())
        .map(([act, other, isDoubled]) => storyStep('with one key: ', (story) => runWithKey(story, { act, other, isDoubled }))),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(signedInChange, fc.nat(KILL_WITHIN_MS))
        .map(([act, delay]) => storyStep('killed meanwhile: ', (story) => runAndKill(story, act, delay))),
    },
  )
  return fc.commands([step], { maxCommands, size: 'max' })
}

interface StoryRun {
  model: Model
  real: ModelConsole
  lines: string[]
}

/** Builds a step. Its `toString` lists the requests and answers of its last run, which fast-check prints. */
function storyStep(how: string, run: (story: StoryRun) => Promise<void>): Step {
  const lines: string[] = []
  return {
    check: () => true,
    async run(model, real) {
      lines.length = 0
      await run({ model, real, lines })
    },
    toString: () => `\n  ${how}${lines.join(' | ')}`,
  }
}

/** An act whose request was sent, with its answer if there was one. */
interface SentAct extends Act {
  request: ModelRequest
  answer: Answer | undefined
}

async function runOnce(story: StoryRun, act: Act): Promise<void> {
  await settle(story, [[await send(story, act)]])
}

async function runTwice(story: StoryRun, act: Act): Promise<void> {
  const request = act.buildRequest(story.model, story.model.callers[act.caller]!)
  const same = { ...act, buildRequest: () => request }
  await runOnce(story, same)
  await runOnce(story, same)
}

/**
 * Repeats a creation with its Idempotency-Key, which must create once, and sends another request with the key, which must be refused
 * (design §7).
 * @param isDoubled whether the repetition is sent without waiting for the first answer
 */
async function runWithKey(
  story: StoryRun,
  { act, other, isDoubled }: { act: Act; other: Act; isDoubled: boolean },
): Promise<void> {
  const key = randomUUID()
  const request = act.buildRequest(story.model, story.model.callers[act.caller]!)
  const same = { ...act, buildRequest: () => request }
  const attempt = (): Promise<SentAct> => send(story, same, key)
  const isDone = ({ answer }: SentAct): boolean => answer?.status === 200
  const first = attempt()
  if (!isDoubled) await settle(story, [[await first]])
  const [done, again] = await Promise.all([first, attempt()])
  const repetition = isDone(done) ? answeredLike(again, done) : again
  await settle(story, [isDoubled ? [done, repetition] : [repetition]])
  if (!isDone(done)) return

  const callers = story.model.callers
  const different = await send(story, other, key)
  if (!isSamePerson(callers[act.caller]!, callers[other.caller]!)) return settle(story, [[different]])
  const isSameRequest = other.name === act.name && JSON.stringify(different.request.input) === JSON.stringify(request.input)
  const refused = {
    ...different,
    request: { ...different.request, serve: (): Outcome => ({ refusal: 'IDEMPOTENCY_KEY_REUSED' }) },
  }
  await settle(story, [[isSameRequest ? answeredLike(different, done) : refused]])
}

function answeredLike(repetition: SentAct, { answer }: SentAct): SentAct {
  return { ...repetition, request: { ...repetition.request, serve: () => ({ answer: answer?.body ?? {} }) } }
}

function isSamePerson(one: Caller, other: Caller): boolean {
  return one.personId === other.personId && one.isBot === other.isBot
}

async function runTogether(story: StoryRun, acts: [Act, Act]): Promise<void> {
  const [one, other] = await Promise.all([send(story, acts[0]), send(story, acts[1])])
  await settle(story, [
    [one, other],
    [other, one],
  ])
}

/** Kills the server during an act. If the act got no answer, it may have taken effect or not. */
async function runAndKill(story: StoryRun, act: Act, delayMs: number): Promise<void> {
  const [done] = await Promise.all([send(story, act), story.real.killAfter(delayMs)])
  await settle(story, done.answer ? [[done]] : [[done], []])
}

async function send({ model, real, lines }: StoryRun, act: Act, key?: string): Promise<SentAct> {
  const who = model.callers[act.caller]!
  const request = act.buildRequest(model, who)
  const line = lines.push(`${who.name} ${act.name} ${JSON.stringify(request.input)}`) - 1
  const answer = await real.send(act.name, act.caller, request.input, key)
  lines[line] += answer ? ` → ${answer.status} ${answer.body['code'] ? JSON.stringify(answer.body['code']) : ''}` : ' → no answer'
  return { ...act, request, answer }
}

/** Applies the first of `orders` after which the model agrees with the answers and the database. @throws Error if none does */
async function settle({ model, real }: StoryRun, orders: SentAct[][]): Promise<void> {
  const state = await real.readState()
  const problems: Error[] = []
  for (const order of orders) {
    const next = structuredClone(model)
    try {
      const isSimultaneous = orders.length > 1
      for (const done of order) apply(done, { before: model, next, state, isSimultaneous })
      learnIds(next, state)
      expect(state, 'what the database has').toEqual(stateOf(next))
      Object.assign(model, next)
      return
    } catch (error) {
      problems.push(error as Error)
    }
  }
  throw problems.length === 1 ? problems[0]! : new Error(problems.map(({ message }) => `In neither order: ${message}`).join('\n'))
}

/** Applies an act to the model `next`. @throws Error if the model's answer differs from the real one */
function apply(
  { name, caller: place, request, answer }: SentAct,
  models: { before: Model; next: Model; state: { [list: string]: unknown[] }; isSimultaneous: boolean },
): void {
  const { before, next, isSimultaneous } = models
  const outcomes = (): Outcome[] => {
    const caller = next.callers[place]!
    const refusal = refusalOf(name, next, caller)
    if (refusal === undefined) return [request.serve(next, caller)]
    // Of two simultaneous acts, one may have passed the access check just before the other ended its session.
    const wasLetIn = refusalOf(name, before, before.callers[place]!) === undefined
    return [{ refusal }, ...(wasLetIn ? [request.serve(next, before.callers[place]!)] : [])]
  }
  const possible = outcomes().flatMap((outcome): Outcome[] =>
    isSimultaneous && 'orRefusal' in outcome && outcome.orRefusal ? [outcome, { refusal: outcome.orRefusal }] : [outcome],
  )
  const fitting = possible.find((outcome) => answer === undefined || problemOf(name, outcome, answer) === undefined)
  if (!fitting) throw problemOf(name, possible[0]!, answer!)!
  if ('refusal' in fitting) return
  fitting.change?.(answer?.body ?? { id: newIdOf(next, models.state) })
}

function problemOf(name: CallName, outcome: Outcome, { status, body }: Answer): Error | undefined {
  try {
    if ('refusal' in outcome) expect({ status, code: body['code'] }, name).toMatchObject({ code: outcome.refusal })
    else {
      expect({ status, code: body['code'] }, `${name} succeeds`).toEqual({ status: 200, code: undefined })
      expect(inOrder(body), name).toMatchObject(inOrder(outcome.answer ?? {}))
    }
    return undefined
  } catch (error) {
    return error as Error
  }
}

/** Sorts lists in an answer by id, since two simultaneous acts may add rows in either order. Players have no `id` and keep their order. */
function inOrder(body: Body): Body {
  const sorted = ['users', 'announcements', 'items', 'records'].flatMap((name) => {
    const rows = body[name] as { id: string }[] | undefined
    return rows?.every(({ id }) => id) ? [[name, rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))]] : []
  })
  return { ...body, ...(Object.fromEntries(sorted) as Body) }
}

/** Finds the id of a record that a server created before it was killed. */
function newIdOf({ tasks, announcements, people }: Model, state: { [list: string]: unknown[] }): string | undefined {
  const rows = ['tasks', 'announcements', 'people'].flatMap((list) => state[list] as [id: string][])
  return rows.map(([id]) => id).find((id) => !tasks.has(id) && !announcements.has(id) && !people.has(id))
}
