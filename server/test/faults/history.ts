/**
 * Checks a history of concurrent changes: no acknowledged change is lost, no refused one is visible, and the final rows are what the
 * server acknowledged. Each change writes a unique text, so that a text identifies the act that wrote it.
 */
import { expect } from 'vitest'
import type { ErrorCode } from '@arcade/contract/errors'

export type Collection = 'social' | 'daily' | 'announcement' | 'user'

/** A change that a client asked for. `from` and `to` are its start and end on one logical clock, by which acts are ordered. */
export interface Act {
  name: string
  from: number
  to: number
  /** `undefined` if it was acknowledged. */
  refusal: ErrorCode | undefined
  requestId: string
  /** The items that it changes. */
  ids: string[]
  /** The version that the client had seen, if it sent one. The server refuses the act if the item has another version by then. */
  version?: number
  /** The unique text that it writes. */
  text?: string
  /** Whether it writes an audit entry. A dry run writes none, and neither does an act that changes nothing. */
  isAudited: 'yes' | 'no' | 'maybe'
  /** Whether other clients may ask for the same priority. */
  isContended?: boolean
}

/** A version of an item as a client read it. `from` and `to` are as in `Act`. */
export interface Observation {
  id: string
  from: number
  to: number
  version: number
  text: string
}

export interface AuditEntry {
  requestId: string
  action: string
  ids: string[]
}

export interface FinalItem {
  id: string
  version: number
  text: string
}

const isRemoval = (action: string): boolean => /\.remove(-many)?$/.test(action)
const isCreation = (action: string): boolean => action.endsWith('.create')

/** Checks the whole history. @throws Error that names the first violation */
export function checkHistory(acts: Act[], observations: Observation[], audit: AuditEntry[], present: FinalItem[]): void {
  const audited = new Set(audit.map(({ requestId }) => requestId))
  expect(audited.size, 'no act is in the audit trail twice').toBe(audit.length)
  const required = acts.filter(({ refusal, isAudited }) => refusal === undefined && isAudited === 'yes')
  expect(
    required.filter(({ requestId }) => !audited.has(requestId)),
    'acknowledged, but not done',
  ).toEqual([])
  const allowed = new Set(
    acts.filter(({ refusal, isAudited }) => refusal === undefined && isAudited !== 'no').map((act) => act.requestId),
  )
  expect(
    audit.filter(({ requestId }) => !allowed.has(requestId)),
    'done, but refused',
  ).toEqual([])

  const actOf = new Map(acts.map((act) => [act.requestId, act]))
  const actsOfItem = new Map<string, { act: Act; action: string }[]>()
  for (const { requestId, action, ids } of audit)
    for (const id of ids) {
      const of = actsOfItem.get(id) ?? []
      of.push({ act: actOf.get(requestId)!, action })
      actsOfItem.set(id, of)
    }

  const finals = new Map(present.map((item) => [item.id, item]))
  expect(
    [...finals.keys()].filter((id) => !actsOfItem.has(id)),
    'items that nobody made',
  ).toEqual([])
  for (const [id, all] of actsOfItem) checkItem(id, all, finals.get(id), observations)
  checkRefusals(acts, actsOfItem, finals)
}

function checkItem(
  id: string,
  all: { act: Act; action: string }[],
  final: FinalItem | undefined,
  observations: Observation[],
): void {
  const creations = all.filter(({ action }) => isCreation(action))
  const removals = all.filter(({ action }) => isRemoval(action))
  const changes = all.filter(({ action }) => !isCreation(action) && !isRemoval(action))
  expect(creations, `${id} was made once`).toHaveLength(1)
  expect(removals.length, `${id} was removed at most once`).toBeLessThanOrEqual(1)
  expect(final !== undefined, `${id} is there unless it was removed`).toBe(removals.length === 0)
  for (const { act } of removals)
    for (const later of all) expect(later.act.from, `${later.act.name} of ${id} after it was removed`).toBeLessThanOrEqual(act.to)

  const versions = changes.map(({ act }) => act.version).filter((version) => version !== undefined)
  expect(new Set(versions).size, `two changes of one version of ${id}: ${versions.join(' ')}`).toBe(versions.length)
  if (final) expect(final.version, `${id}: a version a change`).toBe(1 + changes.length)

  /** Each version must show the last text written up to it, or a text of an act without version, whose position is unknown. */
  const texts = [creations[0]!, ...changes].filter(({ act }) => act.text !== undefined).map(({ act }) => act)
  const placed = texts.filter((act) => act.version !== undefined || act === creations[0]!.act)
  const floating = texts.filter((act) => !placed.includes(act)).map(({ text }) => text)
  const placeOf = (act: Act): number => (act.version ?? 0) + 1
  const written = texts.flatMap(({ version, text, from, to }) =>
    version === undefined ? [] : [{ id, version: version + 1, text: text!, from, to }],
  )
  const seen = [...observations.filter((observation) => observation.id === id), ...written]
  const shown = final ? [...seen, { ...final, from: Infinity, to: Infinity }] : seen
  for (const { version, text } of shown) {
    const last = placed.filter((act) => placeOf(act) <= version).toSorted((a, b) => placeOf(b) - placeOf(a))[0]
    expect([last?.text, ...floating], `version ${version} of ${id}`).toContain(text)
  }
  const textOfVersion = new Map<number, string>()
  for (const { version, text } of shown) {
    expect(textOfVersion.get(version) ?? text, `one text for version ${version} of ${id}`).toBe(text)
    textOfVersion.set(version, text)
  }
  const inOrder = shown.toSorted((a, b) => a.to - b.to)
  let newest = 0
  for (const observation of shown.toSorted((a, b) => a.from - b.from)) {
    while (inOrder[0] && inOrder[0].to < observation.from) newest = Math.max(newest, inOrder.shift()!.version)
    expect(observation.version, `${id}: nobody sees an older version than somebody saw before`).toBeGreaterThanOrEqual(newest)
  }
}

/** Checks that each refusal has a cause: the item was changed or removed by another act, or the priority was contended. */
function checkRefusals(
  acts: Act[],
  actsOfItem: Map<string, { act: Act; action: string }[]>,
  finals: Map<string, FinalItem>,
): void {
  for (const act of acts) {
    if (act.refusal === undefined) continue
    const others = act.ids.flatMap((id) => actsOfItem.get(id) ?? []).filter((other) => other.act.from < act.to)
    const removed = others.some(({ action }) => isRemoval(action))
    if (act.refusal === 'STALE') {
      const isOld = act.version !== undefined && act.ids.some((id) => (finals.get(id)?.version ?? Infinity) > act.version!)
      expect(isOld || others.length > 0, `${act.name} was refused as stale, but nothing had changed`).toBe(true)
    } else if (/^NO_SUCH|NOT_FOUND$/.test(act.refusal)) {
      expect(removed, `${act.name} found nothing, but nobody had removed it`).toBe(true)
    } else {
      expect([act.refusal, act.isContended], `${act.name} was refused`).toEqual(['PRIORITY_TAKEN', true])
    }
  }
}
