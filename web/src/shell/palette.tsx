/**
 * The command palette: finds pages, actions, players, users, tasks and announcements. It is a combobox with a grouped listbox (ARIA APG):
 * the focus stays in the field, the arrow keys select, Enter opens.
 */
import { announcementTypeLabels } from '@arcade/contract/announcements/fields'
import { taskCollections } from '@arcade/contract/tasks/fields'
import { SEARCH_MAX_LENGTH } from '@arcade/contract/entity'
import { listPaths } from '@arcade/contract/lists'
import { playerName } from '@arcade/contract/players/fields'
import { updateUserAddress } from '@arcade/contract/users/fields'
import { useMantineColorScheme } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { type KeyboardEvent, useEffect, useEffectEvent, useId, useRef, useState } from 'react'
import { api } from '#src/client.ts'
import { useSession } from '#src/session.tsx'
import { formattedTotal } from '#src/ui/numbers.ts'
import { colorSchemes } from './color-scheme.tsx'
import { useLogOut } from './log-out.ts'
import { placesFor } from './navigation.tsx'
import classes from './overlay.module.css'
import type { OverlayProps } from './shortcut-keys.ts'

interface Entry {
  id: string
  label: string
  detail?: string
  /** The keyboard shortcut that does the same. */
  keys?: string
  run: () => void
}

interface Group {
  title: string
  entries: Entry[]
  /** All matches, also those not shown; undefined while they are being counted. */
  total?: number | undefined
  /** There are more matches than `total`. */
  isMore?: boolean
}

const SEARCH_AFTER_MS = 200
const SEARCH_MIN_LENGTH = 2
const FOUND_OF_EACH = 5

export function Palette({ onClose, onKeyboardMap }: OverlayProps) {
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  /** Runs after the dialog has closed, because closing it moves the focus back. */
  const chosen = useRef<Entry>(undefined)
  const [text, setText] = useState('')
  const [activeId, setActiveId] = useState<string>()
  /** Enter was pressed before there were results. */
  const [isAwaited, setIsAwaited] = useState(false)
  const commands = useCommands(onKeyboardMap)
  const views = useViews()
  const found = useFound(text.trim())

  const groups = inOrder(matching(commands, text), matching(views, text).map(takeFirst), found.groups, text).filter(
    ({ entries }) => entries.length > 0,
  )
  const entries = groups.flatMap((group) => group.entries)
  const active = entries.find((entry) => entry.id === activeId) ?? entries[0]
  const optionId = (entry: Entry) => `${id} ${entry.id}`.replaceAll(/\s/g, '-')

  useEffect(() => dialog.current?.showModal(), [])
  const activeOptionId = active && optionId(active)
  useEffect(() => {
    if (activeOptionId) document.getElementById(activeOptionId)?.scrollIntoView({ block: 'nearest' })
  }, [activeOptionId])

  const choose = (entry: Entry | undefined) => {
    if (!entry) return
    chosen.current = entry
    dialog.current?.close()
  }

  const openFirst = useEffectEvent(() => choose(entries[0]))
  useEffect(() => {
    if (isAwaited && !found.isSearching) openFirst()
  }, [isAwaited, found.isSearching])

  const handleClose = () => {
    onClose()
    chosen.current?.run()
  }

  const handleKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    const at = active ? entries.indexOf(active) : -1
    const target = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: entries.length - 1, PageUp: 0 }[event.key]
    if (target !== undefined) {
      event.preventDefault()
      setActiveId(entries.at(target % entries.length)?.id)
    } else if (event.key === 'Enter') {
      event.preventDefault()
      if (active) choose(active)
      else setIsAwaited(found.isSearching)
    } else if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
      event.preventDefault()
      dialog.current?.close()
    }
  }

  const status = found.isSearching
    ? 'Searching…'
    : entries.length === 0
      ? `Nothing found for “${text.trim()}”.`
      : resultsText(groups)

  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions, jsx-a11y/click-events-have-key-events -- a click on the backdrop closes it, as Escape does
    <dialog
      ref={dialog}
      aria-label="Search"
      className={classes['dialog']}
      data-palette
      onClose={handleClose}
      onClick={(event) => event.target === dialog.current && dialog.current.close()}
    >
      <div className={classes['field']}>
        <input
          role="combobox"
          aria-label="Search pages, actions, players, users, tasks and announcements"
          aria-expanded={entries.length > 0}
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          aria-activedescendant={activeOptionId}
          placeholder="Search"
          autoComplete="off"
          spellCheck={false}
          maxLength={SEARCH_MAX_LENGTH}
          value={text}
          onChange={(event) => {
            setText(event.currentTarget.value)
            setActiveId(undefined)
            setIsAwaited(false)
          }}
          onKeyDown={handleKeyDown}
        />
        <button type="button" className={classes['close']} onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
      {/* oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- the list of a combobox (ARIA APG) */}
      <div id={`${id}-list`} role="listbox" aria-label="Results" className={classes['list']} tabIndex={-1}>
        {groups.map(({ title, entries: ofGroup, total, isMore = false }) => (
          // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- a group of options, not of form controls
          <div key={title} role="group" aria-label={title}>
            <p className={classes['group']} aria-hidden>
              {title}
              {total !== undefined && total > ofGroup.length && ` · ${shownText(ofGroup.length, total, isMore)}`}
            </p>
            {ofGroup.map((entry) => (
              // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus -- the field has the focus and the keys (ARIA combobox)
              <div
                key={entry.id}
                id={optionId(entry)}
                // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- an option of the listbox above
                role="option"
                aria-selected={entry === active}
                className={classes['option']}
                onPointerMove={() => entry !== active && setActiveId(entry.id)}
                onClick={() => choose(entry)}
              >
                <span className={classes['label']}>{entry.label}</span>
                {entry.detail && <span className={classes['detail']}>{entry.detail}</span>}
                {entry.keys && (
                  <span className={classes['detail']} data-keys>
                    {entry.keys}
                  </span>
                )}
              </div>
            ))}
          </div>
        ))}
      </div>
      {found.failed.length > 0 && !found.isSearching && (
        <p role="alert" className={classes['problem']}>
          {found.failed.join(', ')} could not be searched.
          <button type="button" className={classes['close']} onClick={found.retry}>
            Retry
          </button>
        </p>
      )}
      <output className={classes['status']}>{status}</output>
    </dialog>
  )
}

/** Returns `5 of 56 results`: each group shows only its first matches. */
function resultsText(groups: readonly Group[]): string {
  const shown = groups.reduce((sum, { entries }) => sum + entries.length, 0)
  const total = groups.reduce((sum, group) => sum + ('total' in group ? (group.total ?? Number.NaN) : group.entries.length), 0)
  const isUncounted = groups.some(({ isMore }) => isMore)
  const isPart = Number.isNaN(total) || total > shown
  return `${isPart ? shownText(shown, total, isUncounted) : shown} ${shown === 1 && !isPart ? 'result' : 'results'}`
}

/** NaN is a total that is still being counted. */
function shownText(shown: number, total: number, isMore: boolean): string {
  return `${shown} of ${Number.isNaN(total) ? '…' : formattedTotal(total, isMore)}`
}

/** The pages and actions that the current user may use. */
function useCommands(onKeyboardMap: () => void): Group[] {
  const { user } = useSession()
  const { history } = useRouter()
  const logOut = useLogOut()
  const { setColorScheme } = useMantineColorScheme()
  const isAdmin = user?.userType === 'admin'
  const go = (label: string, to: string, detail?: Pick<Entry, 'detail' | 'keys'>): Entry => ({
    id: `${label} ${to}`,
    label,
    ...detail,
    run: () => history.push(to),
  })
  const additions = [
    ...Object.values(taskCollections).map(({ title, path }) => go('Add Task', `${path}-form`, { detail: title })),
    go('Add User', '/add-user'),
    go('Your Account', '/account'),
    go('Add Annoucement', '/annoucement-form'), // sic, §2
  ]
  return [
    { title: 'Pages', entries: placesFor(user?.userType).map(({ label, to, goKey }) => go(label, to, { keys: `g ${goKey}` })) },
    {
      title: 'Actions',
      entries: [
        ...(isAdmin ? additions : []),
        ...colorSchemes.map(({ value, label }) => ({
          id: `theme ${value}`,
          label: `Theme: ${label}`,
          run: () => setColorScheme(value),
        })),
        { id: 'keyboard shortcuts', label: 'Keyboard shortcuts', keys: '?', run: onKeyboardMap },
        { id: 'log out', label: 'Log Out', run: () => void logOut() },
      ],
    },
  ]
}

/** The saved views of all lists, for admins. */
function useViews(): Group[] {
  const { user } = useSession()
  const { history } = useRouter()
  const { data } = useQuery(api.views.list.queryOptions({ enabled: user?.userType === 'admin', retry: false }))
  const entries = data?.views.map(({ id, list, name, address }) => {
    const path = listPaths[list]
    const place = placesFor(user?.userType).find(({ to }) => to === path)
    return { id: `view ${id}`, label: name, detail: place?.label ?? '', run: () => history.push(`${path}?${address}`) }
  })
  return [{ title: 'Views', entries: entries ?? [] }]
}

/** Puts views before search results if each word of the text begins a word of a view's name, otherwise after them. */
function inOrder(commands: Group[], views: Group[], found: Group[], text: string): Group[] {
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
function takeFirst({ title, entries }: Group): Group {
  return { title, total: entries.length, entries: entries.slice(0, FOUND_OF_EACH) }
}

/** Keeps the entries whose label, detail or keys contain every word of the text. */
function matching(groups: Group[], text: string): Group[] {
  const words = wordsOf(text)
  return groups.map(({ title, entries }) => ({
    title,
    entries: entries.filter(({ label, detail = '', keys = '' }) =>
      words.every((word) => `${label} ${detail} ${keys}`.toLowerCase().includes(word)),
    ),
  }))
}

interface Found {
  groups: Group[]
  isSearching: boolean
  /** The titles of the groups whose search failed. */
  failed: string[]
  retry: () => void
}

/** Searches the server, for admins only. A new text cancels the search for the old one. */
function useFound(text: string): Found {
  const { user } = useSession()
  const router = useRouter()
  const [settled] = useDebouncedValue(text, SEARCH_AFTER_MS)
  const isWanted = user?.userType === 'admin' && text.length >= SEARCH_MIN_LENGTH
  const search = { enabled: isWanted && settled.length >= SEARCH_MIN_LENGTH, retry: false }
  const players = useQuery(
    api.players.list.queryOptions({ input: { search: settled, pageSize: String(FOUND_OF_EACH) }, ...search }),
  )
  // A separate call counts large numbers of players, so that the first matches show sooner.
  const isUncounted = players.data?.total === null
  const counted = useQuery(
    api.players.count.queryOptions({ input: { search: settled }, ...search, enabled: search.enabled && isUncounted }),
  )
  const users = useQuery(api.users.list.queryOptions({ input: { search: settled }, ...search }))
  const social = useQuery(api.socialTasks.list.queryOptions({ input: { search: settled }, ...search }))
  const daily = useQuery(api.dailyTasks.list.queryOptions({ input: { search: settled }, ...search }))
  const announcements = useQuery(api.announcements.list.queryOptions({ input: { search: settled }, ...search }))

  const open = (path: string) => () => router.history.push(path)
  const tasks = { social, daily }
  const sources = [
    {
      title: 'Telegram Users',
      query: players,
      total: isUncounted ? counted.data?.total : players.data?.total,
      entries: players.data?.users.map((player) => ({
        id: `player ${player.userId}`,
        label: playerName(player),
        detail: [player.username && `@${player.username}`, player.userId].filter(Boolean).join(' · '),
        run: open(`/manage-telegram-users/${player.userId}`),
      })),
    },
    {
      title: 'Manage Users',
      query: users,
      total: users.data?.total,
      entries: users.data?.users.map((person) => ({
        id: `user ${person.id}`,
        label: `${person.fname} ${person.lname}`,
        detail: person.email,
        run: () => void router.navigate({ to: '/update-user/$userId/$fname/$lname/$email', params: updateUserAddress(person) }),
      })),
    },
    ...(['social', 'daily'] as const).map((collection) => ({
      title: taskCollections[collection].title,
      query: tasks[collection],
      total: tasks[collection].data?.total,
      entries: tasks[collection].data?.tasks.map(({ id, title, priority }) => ({
        id: `task ${id}`,
        label: title,
        detail: `Priority ${priority}`,
        run: open(`${taskCollections[collection].path}-form-update?id=${encodeURIComponent(id)}`),
      })),
    })),
    {
      title: 'Announcements',
      query: announcements,
      total: announcements.data?.total,
      entries: announcements.data?.announcements.map(({ id, title, type }) => ({
        id: `announcement ${id}`,
        label: title,
        detail: announcementTypeLabels[type],
        run: open(`/annoucement-form-update?id=${encodeURIComponent(id)}`),
      })),
    },
  ]
  if (!isWanted) return { groups: [], isSearching: false, failed: [], retry: () => {} }
  const failed = sources.filter(({ query }) => query.isError)
  return {
    // While the user is typing, the results belong to an older text.
    groups:
      settled === text
        ? sources.map(({ title, query, total, entries = [] }) => ({
            title,
            total: total ?? undefined,
            isMore: query === players && isUncounted && (counted.data?.isMore ?? false),
            entries: entries.slice(0, FOUND_OF_EACH),
          }))
        : [],
    isSearching: settled !== text || sources.some(({ query }) => query.isFetching),
    failed: failed.map(({ title }) => title),
    retry: () => failed.forEach(({ query }) => void query.refetch()),
  }
}
