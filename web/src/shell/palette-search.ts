/** The command palette's search on the server: players, users, tasks, announcements, and the notes on them. */
import { announcementTypeLabels } from '@arcade/contract/announcements/fields'
import { listPaths } from '@arcade/contract/lists'
import type { Permission } from '@arcade/contract/team/permissions'
import { type TaskCollection, taskCollections, taskLists } from '@arcade/contract/tasks/fields'
import { isErased, type Player, playerName } from '@arcade/contract/players/fields'
import { noteKindLabels } from '@arcade/contract/notes/fields'
import { firstCharacters, isBlank, isolated } from '@arcade/contract/text'
import { useDebouncedValue } from '@mantine/hooks'
import {
  IconArrowRight,
  IconBan,
  IconCalendarCheck,
  IconCoins,
  IconLockOpen,
  IconNote,
  IconSpeakerphone,
  IconThumbUp,
  IconUser,
  IconUserCog,
} from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { api } from '#src/client/client.ts'
import { mayDo, useSession } from '#src/session.tsx'
import { updateUserHref, useItemHref, useNotedHref } from '#src/lists/form-hrefs.ts'
import type { AskedAct } from '#src/lists/player-link.tsx'
import { type Entry, MAX_ENTRIES, type Group } from './palette-entries.ts'

const SEARCH_AFTER_MS = 200
const MIN_SEARCH_LENGTH = 2

interface SearchResults {
  groups: Group[]
  isSearching: boolean
  /** The titles of the groups whose search failed. */
  failed: string[]
  retry: () => void
}

/** Searches the lists that the person may see. A new text cancels the search for the old one. */
export function usePaletteSearch(text: string): SearchResults {
  const { user } = useSession()
  const [settled] = useDebouncedValue(text, SEARCH_AFTER_MS)
  const isLongEnough = text.length >= MIN_SEARCH_LENGTH
  const search = (needs: Permission): Search => ({
    text: settled,
    enabled: mayDo(user, needs) && isLongEnough && settled.length >= MIN_SEARCH_LENGTH,
  })
  const found = [
    { needs: 'players.read', source: usePlayers(search('players.read')) },
    { needs: 'users.read', source: useUsers(search('users.read')) },
    { needs: 'tasks.read', source: useTasks('social', search('tasks.read')) },
    { needs: 'tasks.read', source: useTasks('daily', search('tasks.read')) },
    { needs: 'announcements.read', source: useAnnouncements(search('announcements.read')) },
    { needs: 'players.read', source: useNotes(search('players.read')) }, // every role reads some notes, and the server answers with these
  ] as const
  const sources = found.filter(({ needs }) => mayDo(user, needs)).map(({ source }) => source)
  const isWanted = isLongEnough && sources.length > 0

  if (!isWanted) return { groups: [], isSearching: false, failed: [], retry: () => {} }
  const failed = sources.filter(({ query }) => query.isError)
  return {
    // While the user is typing, the results belong to an older text.
    groups: settled === text ? sources : [],
    isSearching: settled !== text || sources.some(({ query }) => query.isFetching),
    failed: failed.map(({ title }) => title),
    retry: () => failed.forEach(({ query }) => void query.refetch()),
  }
}

interface Search {
  text: string
  enabled: boolean
}

/** The matches of one list, and the query that found them. */
interface Source extends Group {
  query: { isError: boolean; isFetching: boolean; refetch: () => Promise<unknown> }
}

type PlayerEntry = Pick<Entry, 'label' | 'run'> & { to: string }

/** What can be done with a found player. Blocking and adjusting open the dialogs of the player's page. */
function useActsOnPlayers(): (player: Player, isBlocked: boolean, entry: PlayerEntry) => Entry[] {
  const { user } = useSession()
  const { history } = useRouter()
  return ({ userId }, isBlocked, { label, to, run }) => {
    const ask = (asks: AskedAct) => () => history.push(to, { asks })
    const act = (text: string, ActIcon: Entry['Icon'], asks: AskedAct): Entry => ({
      id: `${asks} ${userId}`,
      label: `${text} ${isolated(label)}`,
      Icon: ActIcon,
      run: ask(asks),
    })
    return [
      {
        id: `open ${userId}`,
        label: `Open ${isolated(label)}`,
        Icon: IconArrowRight,
        to,
        run,
      },
      ...(mayDo(user, 'players.block')
        ? [isBlocked ? act('Unblock', IconLockOpen, 'unblock') : act('Block', IconBan, 'block')]
        : []),
      ...(mayDo(user, 'balances.adjust') ? [act('Adjust Balance of', IconCoins, 'adjust')] : []),
    ]
  }
}

function usePlayers({ text, enabled }: Search): Source {
  const open = useOpen()
  const actsOn = useActsOnPlayers()
  const query = useQuery(
    api.players.list.queryOptions({ input: { search: text, pageSize: String(MAX_ENTRIES) }, enabled, retry: false }),
  )
  const blocked = new Set(query.data?.blocked)
  // A separate call counts large numbers of players, so that the first matches show sooner.
  const isUncounted = query.data?.total === null
  const counted = useQuery(
    api.players.count.queryOptions({ input: { search: text }, enabled: enabled && isUncounted, retry: false }),
  )
  return {
    title: 'Telegram Users',
    query,
    total: isUncounted ? counted.data?.total : (query.data?.total ?? undefined),
    isMore: isUncounted && (counted.data?.isMore ?? false),
    entries: firstEntries(query.data?.users, (player) => {
      const entry = {
        label: playerName(player),
        detail: [...handleOf(player), player.userId].join(' · '),
        ...open(`/manage-telegram-users/${player.userId}`),
      }
      const acts = isErased(player) ? [] : actsOn(player, blocked.has(player.userId), entry)
      return { ...entry, id: `player ${player.userId}`, Icon: IconUser, ...(acts.length > 0 && { acts }) }
    }),
  }
}

/** Returns `@username` as it stands in a sentence, if there is one. */
function handleOf({ username }: { username: string | null }): string[] {
  return isBlank(username) ? [] : [isolated(`@${username}`)]
}

function useUsers({ text, enabled }: Search): Source {
  const open = useOpen()
  const query = useQuery(api.users.list.queryOptions({ input: { search: text }, enabled, retry: false }))
  return {
    title: 'Manage Users',
    query,
    total: query.data?.total,
    entries: firstEntries(query.data?.users, (user) => ({
      id: `user ${user.id}`,
      label: `${user.fname} ${user.lname}`,
      detail: user.email,
      Icon: IconUserCog,
      ...open(updateUserHref(user)),
    })),
  }
}

function useTasks(collection: TaskCollection, { text, enabled }: Search): Source {
  const open = useOpen()
  const hrefOf = useItemHref()
  const { title: collectionTitle, path } = taskCollections[collection]
  const query = useQuery(api[taskLists[collection].name].list.queryOptions({ input: { search: text }, enabled, retry: false }))
  return {
    title: collectionTitle,
    query,
    total: query.data?.total,
    entries: firstEntries(query.data?.tasks, ({ id, title, priority }) => ({
      id: `task ${id}`,
      label: title,
      detail: `Priority ${priority}`,
      Icon: collection === 'social' ? IconThumbUp : IconCalendarCheck,
      ...open(hrefOf(collection, id) ?? path),
    })),
  }
}

function useAnnouncements({ text, enabled }: Search): Source {
  const open = useOpen()
  const hrefOf = useItemHref()
  const query = useQuery(api.announcements.list.queryOptions({ input: { search: text }, enabled, retry: false }))
  return {
    title: 'Announcements',
    query,
    total: query.data?.total,
    entries: firstEntries(query.data?.announcements, ({ id, title, type }) => ({
      id: `announcement ${id}`,
      label: title,
      detail: announcementTypeLabels[type],
      Icon: IconSpeakerphone,
      ...open(hrefOf('announcement', id) ?? listPaths.announcements),
    })),
  }
}

function useNotes({ text, enabled }: Search): Source {
  const open = useOpen()
  const hrefOf = useNotedHref()
  const query = useQuery(api.notes.list.queryOptions({ input: { search: text }, enabled, retry: false }))
  return {
    title: 'Notes',
    query,
    entries: firstEntries(query.data?.notes, ({ id, kind, recordId, title, text: note }) => ({
      id: `note ${id}`,
      label: firstCharacters(note.replaceAll(/\s+/g, ' '), NOTE_SHOWN_LENGTH),
      detail: `${noteKindLabels[kind]} · ${isolated(title)}`,
      Icon: IconNote,
      ...open(hrefOf(kind, recordId) ?? '/history'),
    })),
  }
}

/** Characters of a note that an entry shows, on one line. */
const NOTE_SHOWN_LENGTH = 100

function useOpen(): (to: string) => { to: string; run: () => void } {
  const { history } = useRouter()
  return (to) => ({ to, run: () => history.push(to) })
}

function firstEntries<Row>(rows: readonly Row[] | undefined, toEntry: (row: Row) => Entry): Entry[] {
  return (rows ?? []).slice(0, MAX_ENTRIES).map(toEntry)
}
