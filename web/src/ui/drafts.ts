/**
 * Drafts: what was typed into a form and not saved, kept in this browser for each person, form and item. A form can have several, one
 * for each time that somebody began to fill it in. A browser that keeps nothing, or has no room, has no drafts.
 */
import { createContext } from 'react'

/** Whose drafts the forms below it keep: a person's id. */
export const DraftOwner = createContext('')

export interface Draft {
  id: string
  /** When it was last typed into, in ISO 8601. */
  at: string
  /** The version of the item that was being changed. */
  basis?: number | undefined
  /** What the fields held when it was begun; it changes only those that it has otherwise. An old draft has none and changes them all. */
  base?: Record<string, unknown>
  values: Record<string, unknown>
}

const DRAFTS_OF_A_FORM = 3

/** The name under which a person's drafts of one form are kept. */
export function draftKey(owner: string, form: string): string {
  return `draft ${owner} ${form}`
}

/** The drafts under a key, the newest first. */
export function readDrafts(key: string): Draft[] {
  try {
    const drafts = JSON.parse(localStorage.getItem(key) ?? '[]') as Draft[]
    return Array.isArray(drafts) ? drafts : []
  } catch {
    return []
  }
}

/** Keeps a draft, in place of the one with the same id. */
export function keepDraft(key: string, draft: Draft): void {
  const others = readDrafts(key).filter(({ id }) => id !== draft.id)
  write(key, [draft, ...others].slice(0, DRAFTS_OF_A_FORM))
}

export function dropDraft(key: string, id: string): void {
  const drafts = readDrafts(key)
  const rest = drafts.filter((draft) => draft.id !== id)
  if (rest.length < drafts.length) write(key, rest)
}

/** Drops the drafts of a form. */
export function dropDrafts(key: string, { but }: { but: string | undefined }): void {
  write(
    key,
    readDrafts(key).filter(({ id }) => id === but),
  )
}

/** Drops all drafts that a person has in this browser. */
export function dropPersonsDrafts(owner: string): void {
  try {
    for (const key of Object.keys(localStorage)) if (key.startsWith(draftKey(owner, ''))) localStorage.removeItem(key)
  } catch {} // no storage, no drafts
}

function write(key: string, drafts: Draft[]): void {
  try {
    if (drafts.length === 0) localStorage.removeItem(key)
    else localStorage.setItem(key, JSON.stringify(drafts))
  } catch {} // no storage or no room: the form itself is still there
}
