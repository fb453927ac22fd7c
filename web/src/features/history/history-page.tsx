/**
 * Participation history (§2 /history): three tabs of titles, and the selected item with its details and participants. The address holds
 * the tab, the item and the page.
 */
import { type HistoryKind, historyKinds } from '@arcade/contract/history/fields'
import { searchedText } from '@arcade/contract/search'
import { Tabs, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type RefObject, useEffect, useRef, useState } from 'react'
import { problemOf } from '#src/client/call-error.ts'
import { api, type client } from '#src/client/client.ts'
import { Day } from '#src/ui/moment.tsx'
import { counted } from '#src/ui/numbers.ts'
import { Page, Panel, Problem } from '#src/ui/page.tsx'
import { HistoryDetails } from './history-details.tsx'
import { useLiveHistory } from './live-history.ts'
import { Spinner } from './spinner.tsx'
import classes from './history-page.module.css'

const tabLabels: Record<HistoryKind, string> = {
  announcement: 'Annoucements', // sic, §2
  social: 'Social Tasks',
  daily: 'Daily Tasks',
}

export function HistoryPage() {
  const { tab = 'announcement', item, ...address } = useSearch({ from: '/shell/management/history' })
  const navigate = useNavigate()
  useLiveHistory(tab, item)

  return (
    <Page title="History">
      {/* Switching tabs resets the selection (§4). */}
      <Tabs
        className={classes['collections'] ?? ''}
        value={tab}
        keepMounted={false}
        onChange={(next) => void navigate({ to: '/history', search: tabSearch(next as HistoryKind) })}
      >
        <Tabs.List aria-label="Collections" className={classes['tabs'] ?? ''}>
          {historyKinds.map((kind) => (
            <Tabs.Tab key={kind} value={kind} className={classes['tab'] ?? ''}>
              {tabLabels[kind]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {historyKinds.map((kind) => (
          <Tabs.Panel key={kind} value={kind} className={classes['panel'] ?? ''}>
            <div className={classes['columns']}>
              <Titles kind={kind} selected={item} />
              {item === undefined ? (
                <Panel>
                  <p className={classes['hint']}>Select a title to see its details and participants.</p>
                </Panel>
              ) : (
                <HistoryDetails
                  key={item}
                  kind={kind}
                  id={item}
                  address={address}
                  onAddress={(next, replace) =>
                    void navigate({ to: '/history', search: { ...tabSearch(kind), item, ...next }, resetScroll: false, replace })
                  }
                />
              )}
            </div>
          </Tabs.Panel>
        ))}
      </Tabs>
    </Page>
  )
}

function tabSearch(tab: HistoryKind): { tab?: HistoryKind } {
  return tab === 'announcement' ? {} : { tab }
}

/** A list with more titles than this has a search box. */
const MAX_TITLES_WITHOUT_SEARCH = 8

function Titles({ kind, selected }: { kind: HistoryKind; selected: string | undefined }) {
  const { data, error, refetch } = useQuery(api.history.titles.queryOptions({ input: { kind } }))
  const [searchText, setSearchText] = useState('')
  const numbered = data?.items.map((item, index) => ({ ...item, number: index + 1 }))
  const wanted = searchedText(searchText)
  const items = numbered?.filter(({ title }) => searchedText(title).includes(wanted))
  const nav = useSelectedInView(selected, items !== undefined)
  return (
    <nav ref={nav} aria-label={tabLabels[kind]} className={classes['titles']}>
      {numbered && numbered.length > MAX_TITLES_WITHOUT_SEARCH && (
        <TextInput
          type="search"
          aria-label="Search titles"
          placeholder="Search titles"
          className={classes['search'] ?? ''}
          value={searchText}
          onChange={({ target }) => setSearchText(target.value)}
          onKeyDown={({ key }) => key === 'Escape' && setSearchText('')}
        />
      )}
      {items ? (
        items.length > 0 ? (
          <ol className={classes['list']}>
            {items.map((item) => (
              <Title key={item.id} kind={kind} item={item} isSelected={item.id === selected} />
            ))}
          </ol>
        ) : (
          <p className={classes['hint']}>{searchText === '' ? 'Nothing here yet.' : 'No title matches.'}</p>
        )
      ) : error ? (
        <Problem {...problemOf(error, () => void refetch())} />
      ) : (
        <Spinner />
      )}
    </nav>
  )
}

/**
 * Scrolls the selected title into view within its box, to which the caller attaches the returned ref. It does not scroll the page, which on
 * a phone shows the details.
 */
function useSelectedInView(selected: string | undefined, isListed: boolean): RefObject<HTMLElement | null> {
  const box = useRef<HTMLElement>(null)
  useEffect(() => {
    const title = isListed && selected !== undefined && box.current?.querySelector<HTMLElement>('li:has(> [aria-current])')
    if (!title || !box.current) return
    const [outer, inner] = [box.current.getBoundingClientRect(), title.getBoundingClientRect()]
    if (inner.top < outer.top || inner.bottom > outer.bottom)
      box.current.scrollTop += inner.top - outer.top - (outer.height - inner.height) / 2
  }, [isListed, selected])
  return box
}

interface TitleProps {
  kind: HistoryKind
  /** `number` is its position among all titles, also those that the search leaves out. */
  item: Awaited<ReturnType<typeof client.history.titles>>['items'][number] & { number: number }
  isSelected: boolean
}

function Title({ kind, item, isSelected }: TitleProps) {
  const { id, title, number, participants, createdAt, isDeleted } = item
  return (
    <li value={number}>
      <Link
        to="/history"
        search={{ ...tabSearch(kind), item: id }}
        resetScroll={false}
        className={classes['title'] ?? ''}
        aria-current={isSelected || undefined}
        preload={false}
      >
        {title}
      </Link>
      <p className={classes['about']}>
        <span>{counted(participants, 'participant')}</span>
        <Day iso={createdAt} />
        {isDeleted && <span className={classes['deleted']}>deleted</span>}
      </p>
    </li>
  )
}
