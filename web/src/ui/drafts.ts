/**
 * Drafts: unsaved form input, kept in localStorage for each user, form and item. A form can have several drafts, one for each visit.
 * Without storage, or when it is full, there are no drafts.
 */
import { createContext } from 'react'

/** The id of the user who owns the drafts of the forms below. */
export const DraftOwner = createContext('')

export interface Draft {
  id: string
  /** Time of the last change, in ISO 8601. */
  at: string
  /** The version of the item being edited. */
  basis?: number | undefined
  /**
   * The initial values of the form. The draft consists of the values that differ from them. Old drafts have no base and consist of all
   * values.
   */
  base?: Record<string, unknown>
  values: Record<string, unknown>
}

const DRAFTS_OF_A_FORM = 3

/** Returns the storage key for a user's drafts of one form. */
export function draftKey(owner: string, form: string): string {
  return `draft ${owner} ${form}`
}

/** Returns the drafts under a key, newest first. */
export function readDrafts(key: string): Draft[] {
  try {
    const drafts = JSON.parse(localStorage.getItem(key) ?? '[]') as Draft[]
    return Array.isArray(drafts) ? drafts : []
  } catch {
    return []
  }
}

/** Saves a draft; replaces the one with the same id. */
export function keepDraft(key: string, draft: Draft): void {
  const others = readDrafts(key).filter(({ id }) => id !== draft.id)
  write(key, [draft, ...others].slice(0, DRAFTS_OF_A_FORM))
}

export function dropDraft(key: string, id: string): void {
  const drafts = readDrafts(key)
  const rest = drafts.filter((draft) => draft.id !== id)
  if (rest.length < drafts.length) write(key, rest)
}

/** Deletes the drafts of a form, except for the one with id `except`. */
export function dropDrafts(key: string, { except }: { except: string | undefined }): void {
  write(
    key,
    readDrafts(key).filter(({ id }) => id === except),
  )
}

/** Deletes all drafts of a user from this browser. */
export function dropPersonsDrafts(owner: string): void {
  try {
    for (const key of Object.keys(localStorage)) if (key.startsWith(draftKey(owner, ''))) localStorage.removeItem(key)
  } catch {} // no storage, so no drafts
}

function write(key: string, drafts: Draft[]): void {
  try {
    if (drafts.length === 0) localStorage.removeItem(key)
    else localStorage.setItem(key, JSON.stringify(drafts))
  } catch {} // no storage, or it is full: the form still has its input
}
