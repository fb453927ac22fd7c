/** The entries of the command palette that need no search on the server: what was opened last, pages, actions and saved views. */
import { taskCollections } from '@arcade/contract/tasks/fields'
import { listPaths } from '@arcade/contract/lists'
import { useMantineColorScheme } from '@mantine/core'
import {
  type Icon,
  IconBookmark,
  IconKeyboard,
  IconLogout,
  IconPlaylistAdd,
  IconSend,
  IconSpeakerphone,
  IconUserCircle,
  IconUserPlus,
} from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { api } from '#src/client/client.ts'
import { useOpenPage } from '#src/lists/back-to-list.tsx'
import { mayDo, mayOpen, useSession } from '#src/session.tsx'
import { openedBefore } from '#src/ui/visit.ts'
import { colorSchemes } from './color-scheme.tsx'
import { useLogOut } from './log-out.ts'
import { menuPagesFor } from './navigation.tsx'

export interface Entry {
  id: string
  label: string
  detail?: string
  Icon: Icon
  /** The keyboard shortcut that does the same. */
  keys?: string
  /** The address of what it opens. Only such entries are offered again as recent ones. */
  to?: string
  run: () => void
  /** Other things that can be done with the found record. */
  acts?: Entry[]
}

export interface Group {
  title: string
  entries: Entry[]
  /** All matches, also those not shown; undefined while they are being counted. */
  total?: number | undefined
  /** There are more matches than `total`. */
  isMore?: boolean
}

/** The most entries shown of a group, except of pages and actions. */
export const MAX_ENTRIES = 5

/** The pages and actions that the current user may use. */
export function useCommands(onKeyboardMap: () => void): Group[] {
  const { user } = useSession()
  const { history } = useRouter()
  const openPage = useOpenPage()
  const logOut = useLogOut()
  const { setColorScheme } = useMantineColorScheme()
  const go = (label: string, to: string, ActIcon: Icon, detail?: Pick<Entry, 'detail'>): Entry => ({
    id: `${label} ${to}`,
    label,
    Icon: ActIcon,
    ...detail,
    to,
    run: () => history.push(to),
  })
  const pages = menuPagesFor(user).map(({ label, to, goKey, Icon: PageIcon }) => ({
    id: `${label} ${to}`,
    label,
    Icon: PageIcon,
    keys: `g ${goKey}`,
    to,
    run: () => openPage(to),
  }))
  const additions = [
    ...Object.values(taskCollections).map(({ title, path }) =>
      go('Add Task', `${path}-form`, IconPlaylistAdd, { detail: title }),
    ),
    go('Add User', '/add-user', IconUserPlus),
    go('Your Account', '/account', IconUserCircle),
    go('Add Annoucement', '/annoucement-form', IconSpeakerphone), // sic, §2
    go('New Broadcast', '/broadcasts/new', IconSend),
  ]
  return [
    { title: 'Pages', entries: pages },
    {
      title: 'Actions',
      entries: [
        ...additions.filter(({ to = '/' }) => mayOpen(user, to)),
        ...colorSchemes.map(({ value, label, Icon: SchemeIcon }) => ({
          id: `theme ${value}`,
          label: `Theme: ${label}`,
          Icon: SchemeIcon,
          run: () => setColorScheme(value),
        })),
        { id: 'keyboard shortcuts', label: 'Keyboard shortcuts', Icon: IconKeyboard, keys: '?', run: onKeyboardMap },
        { id: 'log out', label: 'Log Out', Icon: IconLogout, run: () => void logOut() },
      ],
    },
  ]
}

/** What was opened last in this visit. A page opens as it was last shown. */
export function useRecent(): Group {
  const { user } = useSession()
  const { history } = useRouter()
  const openPage = useOpenPage()
  const pages = new Set(menuPagesFor(user).map(({ to }) => to))
  const entries = openedBefore()
    .filter(({ to }) => mayOpen(user, to))
    .map((opened) => ({
      ...opened,
      id: `recent ${opened.id}`,
      run: () => (pages.has(opened.to) ? openPage(opened.to) : history.push(opened.to)),
    }))
  return { title: 'Recent', entries }
}

/** The saved views of the lists that the person may open. */
export function useViews(): Group[] {
  const { user } = useSession()
  const { history } = useRouter()
  const { data } = useQuery(api.views.list.queryOptions({ enabled: mayDo(user, 'views.own'), retry: false }))
  const entries = data?.views.flatMap(({ id, list, name, address }) => {
    const path = listPaths[list]
    const page = menuPagesFor(user).find(({ to }) => to === path)
    if (!page) return []
    const to = `${path}?${address}`
    return { id: `view ${id}`, label: name, Icon: IconBookmark, detail: page.label, to, run: () => history.push(to) }
  })
  return [{ title: 'Views', entries: entries ?? [] }]
}

/** Puts views before search results if each word of the text begins a word of a view's name, otherwise after them. */
export function inOrder(commands: Group[], views: Group[], found: Group[], text: string): Group[] {
  const isMeant = views.some(({ entries }) => entries.some(({ label }) => beginsWords(label, text)))
  return isMeant ? [...commands, ...views, ...found] : [...commands, ...found, ...views]
}

function beginsWords(label: string, text: string): boolean {
  return wordsOf(text).every((word) => wordsOf(label).some((one) => one.startsWith(word)))
}

function wordsOf(text: string): string[] {
  return text.trim().toLowerCase().split(/\s+/)
}

/** Returns the first entries of a group, with its total. */
export function takeFirst({ title, entries }: Group): Group {
  return { title, total: entries.length, entries: entries.slice(0, MAX_ENTRIES) }
}

/** Keeps the entries whose label, detail or keys contain every word of the text. */
export function matching(groups: Group[], text: string): Group[] {
  const words = wordsOf(text)
  return groups.map(({ title, entries }) => ({
    title,
    entries: entries.filter(({ label, detail = '', keys = '' }) =>
      words.every((word) => `${label} ${detail} ${keys}`.toLowerCase().includes(word)),
    ),
  }))
}
