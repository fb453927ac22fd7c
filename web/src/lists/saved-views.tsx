/** The saved views above a list (design §7). The default view opens when the address has no parameters. */
import type { List } from '@arcade/contract/entity'
import { type ListName, listPaths } from '@arcade/contract/lists'
import { playerList } from '@arcade/contract/players/fields'
import type { View, ViewInput } from '@arcade/contract/views/calls'
import { isolated } from '@arcade/contract/text'
import { useQuery } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useEffect, useEffectEvent, useState } from 'react'
import { asCallError } from '#src/client/call-error.ts'
import { api, client, makeCreateOnce, queryClient } from '#src/client/client.ts'
import { forgetSearch, keptSearch } from '#src/ui/visit.ts'
import { useConfirm } from '#src/ui/confirm.tsx'
import type { Refusal } from '#src/ui/form.tsx'
import type { TableLook } from './table-look.ts'
import { toast } from '#src/ui/toast.tsx'
import { ViewsPane } from './views-pane.tsx'
import { type ListAddress, lookAddress, readListAddress, viewAddress, withoutLook } from './list-address.ts'
import { useUnread } from './unread.ts'
import { parseSearch, stringifySearch } from './search-params.ts'

const SEGMENT_HINT = 'A shared view is a segment: tasks, announcements and broadcasts can be for its players only.'

interface SavedViewsProps<L extends List> {
  list: L & { name: ListName }
  address: ListAddress<L>
  look: TableLook
}

export function SavedViews<L extends List>({ list, address, look }: SavedViewsProps<L>) {
  const { history } = useRouter()
  const confirm = useConfirm()
  const [createOnce] = useState(makeCreateOnce)
  const path = listPaths[list.name]
  const { data } = useQuery(api.views.list.queryOptions())
  const isWhole = Object.keys(withoutLook(viewAddress(address))).length === 0
  const toHref = (text: string): string => (text === '' ? path : `${path}?${text}`)
  /** What the list currently shows, as the address of a view. */
  const present = addressText({ ...viewAddress(address), ...lookAddress(look) })
  const views = data?.views
    .filter((view) => view.list === list.name)
    .map((view) => ({
      ...view,
      href: toHref(view.address),
      isCurrent: addressText(viewAddress(readListAddress(list, parseSearch(view.address)))) === present,
    }))

  const stopOpeningDefault = useDefaultView(path, address, views?.find(({ isDefault }) => isDefault)?.href)

  const handleSave = (input: ViewInput, view: View | undefined, isWithList: boolean) => {
    if (!view) {
      const saved = { ...input, list: list.name, address: present }
      return change(() => createOnce((options) => client.views.create(saved, options)), 'View saved.')
    }
    const { id, version } = view
    const changed = { ...input, id, version, ...(isWithList && { address: present }) }
    return change(() => client.views.update(changed), 'View updated.')
  }

  const handleDelete = async (view: View) => {
    const consequence = view.isShared ? ' Nobody will have it any more.' : ''
    const message = `Are you sure you want to delete the view ${isolated(view.name)}?${consequence}`
    if (!(await confirm({ title: 'Delete view', message, isDestructive: true }))) return
    await change(() => client.views.remove({ id: view.id }), 'View deleted.')
  }

  const handleDefault = async (view: View | undefined) => {
    stopOpeningDefault()
    if (isWhole) forgetSearch(path) // the list opens with its new default the next time
    await change(() => client.views.setDefault({ list: list.name, id: view?.id ?? null }))
  }

  return (
    <ViewsPane
      views={views}
      shareHint={list.name === playerList.name ? SEGMENT_HINT : undefined}
      whole={{ href: path, isCurrent: isWhole }}
      onOpen={(href) => {
        stopOpeningDefault()
        history.push(href)
      }}
      onSave={handleSave}
      onDelete={handleDelete}
      onDefault={handleDefault}
    />
  )
}

/**
 * Opens the default view once it is known, but only if the page was entered with a bare address and was not shown before in this visit:
 * after clearing a search, the operator wants the whole list, also on the way back to it. Call the returned function when the operator opens another view or chooses another default.
 */
function useDefaultView(path: string, address: ListAddress<List>, href: string | undefined): () => void {
  const { history } = useRouter()
  const unread = useUnread()
  const [isBare, setIsBare] = useState(
    unread === undefined && Object.keys(address).length === 0 && keptSearch(path) === undefined,
  )
  const openDefault = useEffectEvent((to: string) => history.replace(to))
  if (isBare && Object.keys(withoutLook(address)).length > 0) setIsBare(false)
  useEffect(() => {
    if (isBare && href !== undefined) openDefault(href)
  }, [isBare, href])
  return () => setIsBare(false)
}

/** Calls the server and reloads the views. Shows a toast for the result; resolves with the server's refusal, if any. */
async function change(call: () => Promise<unknown>, success?: string): Promise<Refusal | void> {
  try {
    await call()
    if (success) toast.success(success)
  } catch (error) {
    const { message, fields } = asCallError(error)
    toast.failure(message)
    return { fields }
  } finally {
    await queryClient.invalidateQueries({ queryKey: api.views.key() })
  }
}

/** Returns an address as its query string, with sorted keys, so that equal addresses have equal texts. */
function addressText(address: object): string {
  const entries = Object.entries(address).filter(([, value]) => value !== undefined)
  return stringifySearch(Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))).slice(1)
}
