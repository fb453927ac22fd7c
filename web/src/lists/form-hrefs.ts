/** Addresses of the forms that edit or copy a record (§2), as texts, because the router takes long to build those of a whole list. */
import type { HistoryKind } from '@arcade/contract/history/fields'
import { listPaths } from '@arcade/contract/lists'
import type { NoteKind } from '@arcade/contract/notes/fields'
import { collectionOf, type TaskCollection, taskCollections } from '@arcade/contract/tasks/fields'
import { type DashboardUser, updateUserAddress } from '@arcade/contract/users/fields'

/** The address of an add form. The edit form is at `{path}-update`. */
type FormPath = '/annoucement-form' | `${(typeof taskCollections)[TaskCollection]['path']}-form` // sic, §2

export function editHref(form: FormPath, id: string): string {
  return `${form}-update?id=${encodeURIComponent(id)}`
}

/** Returns the address of an add form that is filled with a copy of the record. */
export function copyHref(form: FormPath, id: string): string {
  return `${form}?from=${encodeURIComponent(id)}`
}

/** Returns the address of the form that edits a task or announcement. */
export function itemHref(kind: HistoryKind, id: string): string {
  return editHref(kind === 'announcement' ? '/annoucement-form' : `${taskCollections[kind].path}-form`, id)
}

/** Returns the address of the page of a record that has notes. */
export function notedHref(kind: NoteKind, id: string): string {
  if (kind === 'player') return `${listPaths.telegramUsers}/${id}`
  return itemHref(kind === 'announcement' ? kind : collectionOf[kind], id)
}

export function updateUserHref(user: DashboardUser): string {
  const { userId, fname, lname, email } = updateUserAddress(user)
  return `/update-user/${[userId, fname, lname, email].map(encodeURIComponent).join('/')}`
}
