/**
 * A history of what many callers did at once, and what must hold of it: no change is lost, none shows that was refused, and what the
 * server acknowledged is what there is in the end. Every change writes a text of its own, so that a text tells which act it comes from.
 */
import { expect } from 'vitest'
import type { ErrorCode } from '@arcade/contract/errors'

export type Collection = 'social' | 'daily' | 'announcement' | 'user'

/** A change that somebody asked for. `from` and `to` are moments of one clock: an act that ends before another begins is before it. */
export interface Act {
  name: string
  from: number
  to: number
  /** `undefined` when it was acknowledged. */
  refusal: ErrorCode | undefined
  requestId: string
  /** Whom it is about. */
  ids: string[]
  /** The version that the caller had seen, of an act that is refused if it is another by now. */
  version?: number
  /** What it writes. */
  text?: string
  /** Whether it leaves an entry in the audit trail: no dry run does, and nothing that is so already. */
  isAudited: 'yes' | 'no' | 'maybe'
  /** Somebody else may ask for the same priority. */
  isContended?: boolean
}

/** What a reader saw of an item. */
export interface Sight {
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

/** Throws what is wrong. */
export function checkHistory(acts: Act[], sights: Sight[], audit: AuditEntry[], present: FinalItem[]): void {
  const audited = new Set(audit.map(({ requestId }) => requestId))
  expect(audited.size, 'no act is in the audit trail twice').toBe(audit.length)
  const mustBe = acts.filter(({ refusal, isAudited }) => refusal === undefined && isAudited === 'yes')
  expect(
    mustBe.filter(({ requestId }) => !audited.has(requestId)),
    'acknowledged, but not done',
  ).toEqual([])
  const mayBe = new Set(
    acts.filter(({ refusal, isAudited }) => refusal === undefined && isAudited !== 'no').map((act) => act.requestId),
  )
  expect(
    audit.filter(({ requestId }) => !mayBe.has(requestId)),
    'done, but refused',
  ).toEqual([])

  const actOf = new Map(acts.map((act) => [act.requestId, act]))
  const about = new Map<string, { act: Act; action: string }[]>()
  for (const { requestId, action, ids } of audit)
    for (const id of ids) {
      const of = about.get(id) ?? []
      of.push({ act: actOf.get(requestId)!, action })
      about.set(id, of)
    }

  const finals = new Map(present.map((item) => [item.id, item]))
  expect(
    [...finals.keys()].filter((id) => !about.has(id)),
    'items that nobody made',
  ).toEqual([])
  for (const [id, all] of about) checkItem(id, all, finals.get(id), sights)
  checkRefusals(acts, about, finals)
}

function checkItem(id: string, all: { act: Act; action: string }[], final: FinalItem | undefined, sights: Sight[]): void {
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

  /** The texts that a version may show: the last one written before it, or one whose place among the versions is not known. */
  const texts = [creations[0]!, ...changes].filter(({ act }) => act.text !== undefined).map(({ act }) => act)
  const placed = texts.filter((act) => act.version !== undefined || act === creations[0]!.act)
  const floating = texts.filter((act) => !placed.includes(act)).map(({ text }) => text)
  const placeOf = (act: Act): number => (act.version ?? 0) + 1
  const written = texts.flatMap(({ version, text, from, to }) =>
    version === undefined ? [] : [{ id, version: version + 1, text: text!, from, to }],
  )
  const seen = [...sights.filter((sight) => sight.id === id), ...written]
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
  for (const sight of shown.toSorted((a, b) => a.from - b.from)) {
    while (inOrder[0] && inOrder[0].to < sight.from) newest = Math.max(newest, inOrder.shift()!.version)
    expect(sight.version, `${id}: nobody sees an older version than somebody saw before`).toBeGreaterThanOrEqual(newest)
  }
}

/** A refusal has a reason: what the caller had seen is not so any more, or is gone. */
function checkRefusals(acts: Act[], about: Map<string, { act: Act; action: string }[]>, finals: Map<string, FinalItem>): void {
  for (const act of acts) {
    if (act.refusal === undefined) continue
    const others = act.ids.flatMap((id) => about.get(id) ?? []).filter((other) => other.act.from < act.to)
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
