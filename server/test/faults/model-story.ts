/** Stories of the console: acts of several callers, one after another, repeated, two at once, or with a `kill -9` under way. */
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { expect } from 'vitest'
import type { Route } from '#src/http/routes.ts'
import type { Asked, Body, Caller, CallName, Command, Look, Model, Outcome } from './model.ts'
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

/** Each call of the contract has its command or a reason why it has none. */
type Commands = { [Group in CallName as Group extends `${infer Name}.${string}` ? Name : never]: unknown }
type CommandsOf<Group extends keyof Commands> = {
  [Name in CallName as Name extends `${Group}.${infer Call}` ? Call : never]: Command | string
}

const NOT_MODELLED = 'the trail tells of all other acts, whose number is checked after each; audit.test.ts'
const NOT_RESTORED = 'the model does not know the numbers of entries; features/audit/versions.test.ts'
const NOT_FOR_PLAYERS = 'players of the model stay as they are; features/players/blocks.test.ts and erase.test.ts'
const ONLY_IMPORTED = 'participations come by imports only; players.test.ts'
const TOKENS_OF_OTHERS = 'the model has one bot, whose token stays as it is; features/bot-tokens/bot-tokens.test.ts'
const NOT_SENT = 'nothing is sent to the outside in stories; features/webhooks/webhooks.test.ts'
const NO_PICTURES = 'announcements of the model have none; features/game/game.test.ts'
const NO_CHANGE_OF_ITEMS = 'players are none that the model changes; features/game/game.test.ts'
const NO_CHANGE_OF_BALANCES = 'players have no ledgers in the model; ledger/adjustments.test.ts'
const commands: { [Group in keyof Commands]: CommandsOf<Group> } = {
  auth: { ...authCommands, setupLink: 'where there is an admin it only says so; auth.test.ts' },
  account: { ...accountCommands, endSession: 'sessions have no names in the model; account.test.ts' },
  users: { ...userCommands, restoreVersion: NOT_RESTORED },
  dashboard: {
    ...dashboardCommands,
    activity: `${ONLY_IMPORTED}; activity.test.ts`,
    events: 'a stream of what the other two answer; live.test.ts',
  },
  socialTasks: { ...taskCommands('social'), restoreVersion: NOT_RESTORED },
  dailyTasks: { ...taskCommands('daily'), restoreVersion: NOT_RESTORED },
  announcements: { ...announcementCommands, restoreVersion: NOT_RESTORED },
  players: {
    ...playerCommands,
    participations: ONLY_IMPORTED,
    block: NOT_FOR_PLAYERS,
    unblock: NOT_FOR_PLAYERS,
    erase: NOT_FOR_PLAYERS,
  },
  history: { ...historyCommands, participants: ONLY_IMPORTED },
  downloads: {
    ...downloadCommands,
    history: ONLY_IMPORTED,
    progress: 'only a download that is under way has one; download.test.ts',
  },
  views: viewCommands,
  audit: {
    list: NOT_MODELLED,
    count: NOT_MODELLED,
    ofRecord: NOT_MODELLED,
  },
  backups: { state: 'no schedule is set, and nobody makes one by a call; backup/schedule.test.ts' },
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
    upsertMany: NO_CHANGE_OF_ITEMS,
    upsert: NO_CHANGE_OF_ITEMS,
    player: NO_CHANGE_OF_ITEMS,
    tasks: NO_CHANGE_OF_ITEMS,
    announcements: NO_CHANGE_OF_ITEMS,
    file: NO_PICTURES,
    seen: NO_CHANGE_OF_ITEMS,
  },
  webhooks: {
    list: NOT_SENT,
    create: NOT_SENT,
    setActive: NOT_SENT,
    remove: NOT_SENT,
    test: NOT_SENT,
    deliveries: NOT_SENT,
    replay: NOT_SENT,
  },
  ledger: {
    claim: NO_CHANGE_OF_ITEMS,
    enter: NO_CHANGE_OF_ITEMS,
    adjust: NO_CHANGE_OF_ITEMS,
    reverse: NO_CHANGE_OF_ITEMS,
    entries: NO_CHANGE_OF_ITEMS,
    leaderboard: NO_CHANGE_OF_ITEMS,
  },
  balances: { entries: NO_CHANGE_OF_BALANCES, adjust: NO_CHANGE_OF_BALANCES, reverse: NO_CHANGE_OF_BALANCES },
}

/** An act of one caller. */
interface Act {
  name: CallName
  /** Its place among the model's callers. */
  caller: number
  look: Look
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
// Two simultaneous changes of one password both go by the old one: the sessions of both end, and who is last is not known.
const pairedChange = actsOf((name) => isChange(name) && !name.startsWith('account.'))
const signedInChange = actsOf((name) => isChange(name) && !guestGroups.includes(groupOf(name)))
const creation = actsOf((name) => routeOf(name).meta.heedsIdempotencyKey)
// Two changes of things of one kind get into each other's way more often than any two.
const pairs = fc.oneof(
  fc.tuple(pairedChange, pairedChange),
  ...['users', 'socialTasks', 'dailyTasks', 'announcements', 'trash'].map((group) => {
    const change = actsOf((name) => isChange(name) && groupOf(name) === group)
    return fc.tuple(change, change)
  }),
)

// What the trash and undoing are for, else they would find next to nothing.
const undoable = actsOf(
  (name) => /\.(remove|removeMany|prioritise|reorder|toggleStatus|setStatus)$/.test(name) && !name.startsWith('views.'),
)
const undoing = actsOf((name) => ['trash', 'acts'].includes(groupOf(name)))

function routeOf(name: CallName): Route {
  return routes.find((route) => route.name === name)!
}

function groupOf(name: CallName): string {
  return name.split('.')[0]!
}

function actsOf(isWanted: (name: CallName) => boolean): fc.Arbitrary<Act> {
  const all = Object.entries(commands).flatMap(([group, calls]) =>
    Object.entries(calls as Record<string, Command | string>).flatMap(([call, command]) => {
      const name = `${group}.${call}` as CallName
      if (typeof command === 'string' || !isWanted(name)) return []
      // Whose session begins or ends sits at a browser.
      const caller = guestGroups.includes(group) ? fc.nat(2) : fc.constantFrom(0, 0, 0, 1, 1, 1, 2, 3)
      return fc.record({ name: fc.constant(name), caller, look: command.acts })
    }),
  )
  return fc.oneof(...all)
}

export type Story = Iterable<Step>

export function stories(maxCommands: number): fc.Arbitrary<Story> {
  const step = fc.oneof(
    { weight: 60, arbitrary: anyAct.map((act) => storyStep('', (told) => once(told, act))) },
    { weight: 8, arbitrary: anyChange.map((act) => storyStep('twice: ', (told) => twice(told, act))) },
    {
      weight: 16,
      arbitrary: fc.tuple(undoable, undoing).map(([act, back]) =>
        storyStep('and back: ', async (told) => {
          await once(told, act)
          await once(told, back)
        }),
      ),
    },
    {
      weight: 20,
      arbitrary: pairs.map(([one, other]) => {
        const differs = one.caller === other.caller ? { ...other, caller: one.caller === 0 ? 1 : 0 } : other
        return storyStep('at once: ', (told) => together(told, [one, differs]))
      }),
    },
    {
      weight: 8,
      arbitrary: fc
        .tuple(creation, creation, fc.boolean())
        .map(([act, other, isDoubled]) => storyStep('with one key: ', (told) => keyed(told, { act, other, isDoubled }))),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(signedInChange, fc.nat(KILL_WITHIN_MS))
        .map(([act, delay]) => storyStep('killed meanwhile: ', (told) => killed(told, act, delay))),
    },
  )
  return fc.commands([step], { maxCommands, size: 'max' })
}

interface Told {
  model: Model
  real: ModelConsole
  lines: string[]
}

/** A step tells itself as it ran last: what was sent by whom, and what came back. */
function storyStep(how: string, run: (told: Told) => Promise<void>): Step {
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

/** An act that was asked for, with its answer if there was one. */
interface Done extends Act {
  asked: Asked
  answer: Answer | undefined
}

async function once(told: Told, act: Act): Promise<void> {
  await settle(told, [[await ask(told, act)]])
}

async function twice(told: Told, act: Act): Promise<void> {
  const asked = act.look(told.model, told.model.callers[act.caller]!)
  const same = { ...act, look: () => asked }
  await once(told, same)
  await once(told, same)
}

/**
 * §design 7: what was created with an Idempotency-Key is created once, and another request of that caller with the key is refused.
 * @param isDoubled whether the repetition does not wait for the first answer
 */
async function keyed(told: Told, { act, other, isDoubled }: { act: Act; other: Act; isDoubled: boolean }): Promise<void> {
  const key = randomUUID()
  const asked = act.look(told.model, told.model.callers[act.caller]!)
  const same = { ...act, look: () => asked }
  const attempt = (): Promise<Done> => ask(told, same, key)
  const isDone = ({ answer }: Done): boolean => answer?.status === 200
  const first = attempt()
  if (!isDoubled) await settle(told, [[await first]])
  const [done, again] = await Promise.all([first, attempt()])
  const repetition = isDone(done) ? answeredLike(again, done) : again
  await settle(told, [isDoubled ? [done, repetition] : [repetition]])
  if (!isDone(done)) return

  const callers = told.model.callers
  const different = await ask(told, other, key)
  if (!isSamePerson(callers[act.caller]!, callers[other.caller]!)) return settle(told, [[different]])
  const isSameRequest = other.name === act.name && JSON.stringify(different.asked.input) === JSON.stringify(asked.input)
  const refused = { ...different, asked: { ...different.asked, serve: (): Outcome => ({ refusal: 'IDEMPOTENCY_KEY_REUSED' }) } }
  await settle(told, [[isSameRequest ? answeredLike(different, done) : refused]])
}

function answeredLike(repetition: Done, { answer }: Done): Done {
  return { ...repetition, asked: { ...repetition.asked, serve: () => ({ answer: answer?.body ?? {} }) } }
}

function isSamePerson(one: Caller, other: Caller): boolean {
  return one.personId === other.personId && one.isBot === other.isBot
}

async function together(told: Told, acts: [Act, Act]): Promise<void> {
  const [one, other] = await Promise.all([ask(told, acts[0]), ask(told, acts[1])])
  await settle(told, [
    [one, other],
    [other, one],
  ])
}

/** Without an answer it was done or it was not. */
async function killed(told: Told, act: Act, delayMs: number): Promise<void> {
  const [done] = await Promise.all([ask(told, act), told.real.killAfter(delayMs)])
  await settle(told, done.answer ? [[done]] : [[done], []])
}

async function ask({ model, real, lines }: Told, act: Act, key?: string): Promise<Done> {
  const who = model.callers[act.caller]!
  const asked = act.look(model, who)
  const line = lines.push(`${who.name} ${act.name} ${JSON.stringify(asked.input)}`) - 1
  const answer = await real.send(act.name, act.caller, asked.input, key)
  lines[line] += answer ? ` → ${answer.status} ${answer.body['code'] ? JSON.stringify(answer.body['code']) : ''}` : ' → no answer'
  return { ...act, asked, answer }
}

/** Goes on with the first order of the acts after which the model gives their answers and is as the database is. */
async function settle({ model, real }: Told, orders: Done[][]): Promise<void> {
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

/** Lets `next` do what was asked of it. @throws Error if it would have answered something else */
function apply(
  { name, caller: place, asked, answer }: Done,
  models: { before: Model; next: Model; state: { [list: string]: unknown[] }; isSimultaneous: boolean },
): void {
  const { before, next, isSimultaneous } = models
  const outcomes = (): Outcome[] => {
    const caller = next.callers[place]!
    const refusal = refusalOf(name, next, caller)
    if (refusal === undefined) return [asked.serve(next, caller)]
    // Of two at once, one may have been let in just before the other ended its session.
    const wasLetIn = refusalOf(name, before, before.callers[place]!) === undefined
    return [{ refusal }, ...(wasLetIn ? [asked.serve(next, before.callers[place]!)] : [])]
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

/** Lists whose order two simultaneous acts decide, by their ids; those of players have none. */
function inOrder(body: Body): Body {
  const sorted = ['users', 'announcements', 'items', 'records'].flatMap((name) => {
    const rows = body[name] as { id: string }[] | undefined
    return rows?.every(({ id }) => id) ? [[name, rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))]] : []
  })
  return { ...body, ...(Object.fromEntries(sorted) as Body) }
}

/** The id of what a server made before it was killed. */
function newIdOf({ tasks, announcements, people }: Model, state: { [list: string]: unknown[] }): string | undefined {
  const rows = ['tasks', 'announcements', 'people'].flatMap((list) => state[list] as [id: string][])
  return rows.map(([id]) => id).find((id) => !tasks.has(id) && !announcements.has(id) && !people.has(id))
}
