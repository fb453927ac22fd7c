/** Addresses of the forms that edit or copy a record (§2), as texts, because the router takes long to build those of a whole list. */
import type { HistoryKind } from '@arcade/contract/history/fields'
import { listPaths } from '@arcade/contract/lists'
import type { NoteKind } from '@arcade/contract/notes/fields'
import { collectionOf, type TaskCollection, taskCollections } from '@arcade/contract/tasks/fields'
import { type DashboardUser, updateUserAddress } from '@arcade/contract/users/fields'
import { useMay } from '#src/session.tsx'

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
function itemHref(kind: HistoryKind, id: string): string {
  return editHref(kind === 'announcement' ? '/annoucement-form' : `${taskCollections[kind].path}-form`, id)
}

/** The address of what an item was and who took part in it. */
export function historyHref(kind: HistoryKind, id: string): string {
  return `/history?${kind === 'announcement' ? '' : `tab=${kind}&`}item=${encodeURIComponent(id)}`
}

/**
 * Returns a function for the address of a task or announcement: its form or, for people who may not change it, its page in History;
 * undefined if they may open neither.
 */
export function useItemHref(): (kind: HistoryKind, id: string) => string | undefined {
  const maySeeHistory = useMay('history.read')
  const mayChange = { tasks: useMay('tasks.write'), announcements: useMay('announcements.write') }
  return (kind, id) => {
    if (mayChange[kind === 'announcement' ? 'announcements' : 'tasks']) return itemHref(kind, id)
    return maySeeHistory ? historyHref(kind, id) : undefined
  }
}

/**
 * Returns a function for the address of the page of a record that has notes; undefined if the person may not open it. Notes stand on the
 * form of an item.
 */
export function useNotedHref(): (kind: NoteKind, id: string) => string | undefined {
  const hrefOf = useItemHref()
  return (kind, id) => {
    if (kind === 'player') return `${listPaths.telegramUsers}/${id}`
    return hrefOf(kind === 'announcement' ? kind : collectionOf[kind], id)
  }
}

export function updateUserHref(user: DashboardUser): string {
  const { userId, fname, lname, email } = updateUserAddress(user)
  return `/update-user/${[userId, fname, lname, email].map(encodeURIComponent).join('/')}`
}
