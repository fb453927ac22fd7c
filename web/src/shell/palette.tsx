/**
 * The command palette: finds pages, actions, players, users, tasks, announcements and notes. It is a combobox with a grouped listbox (ARIA APG):
 * the focus stays in the field, the arrow keys select, Enter opens, the right arrow shows what else can be done with a player.
 *
 * Mantine's Spotlight draws it. Its own selection is unknown to screen readers and to results that arrive later, so the palette has its own
 * (e2e/tests/palette.spec.ts).
 */
import '@mantine/core/styles/ScrollArea.css'
import '@mantine/spotlight/styles.css'
import { MAX_SEARCH_LENGTH } from '@arcade/contract/entity'
import { firstCharacters } from '@arcade/contract/text'
import { Button, CloseButton } from '@mantine/core'
import { createSpotlight, Spotlight } from '@mantine/spotlight'
import { IconChevronRight, IconSearch } from '@tabler/icons-react'
import { type KeyboardEvent, useEffect, useEffectEvent, useId, useLayoutEffect, useRef, useState } from 'react'
import { useDialogLayer } from '#src/ui/dialog-layer.ts'
import { formattedTotal } from '#src/ui/numbers.ts'
import { keepOpened } from '#src/ui/visit.ts'
import classes from './palette.module.css'
import { type Entry, type Group, inOrder, matching, takeFirst, useCommands, useRecent, useViews } from './palette-entries.ts'
import { usePaletteSearch } from './palette-search.ts'
import { isPaletteKey, type OverlayProps } from './shortcut-keys.ts'

export function Palette({ onClose, onKeyboardMap, takeTyped }: OverlayProps) {
  const id = useId()
  const [[store, { close }]] = useState(createOpenSpotlight)
  const results = useResults(onKeyboardMap)
  const { text, groups, found, entries, active } = results
  const layer = useDialogLayer(() => results.hideActs() || close())
  const choice = useChoice(entries, found.isSearching, close)

  const handleText = (typed: string) => {
    results.search(typed)
    choice.stopAwaiting()
  }

  return (
    <Spotlight.Root
      {...layer}
      id={id}
      store={store}
      query={text}
      onQueryChange={handleText}
      onSpotlightClose={onClose}
      shortcut={null}
      size="40rem"
      scrollable
      maxHeight="min(36rem, calc(100dvh - 6rem))"
      closeOnEscape={false}
      returnFocus={false}
      lockScroll={false}
      overlayProps={{}}
      // Screen readers announce the dialog's status, not its whole list.
      attributes={{ content: { 'aria-label': 'Search' }, body: { id: undefined } }}
      data-palette
    >
      <SearchField id={id} results={results} choice={choice} onClose={close} takeTyped={takeTyped} />
      {/* oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- the list of a combobox (ARIA APG) */}
      <Spotlight.ActionsList id={`${id}-list`} role="listbox" aria-label="Results" className={classes['list'] ?? ''}>
        {groups.map((group) => (
          <PaletteGroup
            key={group.title}
            id={id}
            group={group}
            active={active}
            onPoint={({ id: pointed }) => results.setActiveId(pointed)}
            onChoose={choice.choose}
            onActs={results.showActs}
          />
        ))}
      </Spotlight.ActionsList>
      {!found.isSearching && <SearchProblem failed={found.failed} onRetry={found.retry} />}
      <Footer id={id} results={results} />
    </Spotlight.Root>
  )
}

function createOpenSpotlight(): ReturnType<typeof createSpotlight> {
  const [store, spotlight] = createSpotlight()
  spotlight.open()
  return [store, spotlight]
}

/** Returns what was typed, the groups of entries that were found for it, and the active entry, with the functions that change them. */
function useResults(onKeyboardMap: () => void) {
  const [text, setText] = useState('')
  const { groups, found, showActsOf, hideActs } = useGroups(text, onKeyboardMap)
  const entries = groups.flatMap((group) => group.entries)
  const { active, setActiveId, move } = useActiveEntry(entries)
  return {
    text,
    search: (typed: string) => {
      setText(firstCharacters(typed, MAX_SEARCH_LENGTH))
      setActiveId(undefined)
      hideActs()
    },
    groups,
    found,
    entries,
    active,
    setActiveId,
    move,
    showActs: (entry: Entry) => {
      showActsOf(entry)
      setActiveId(undefined)
    },
    hideActs,
  }
}

/** Returns the groups with entries for the text, and the state of the search on the server. */
function useGroups(text: string, onKeyboardMap: () => void) {
  const commands = useCommands(onKeyboardMap)
  const views = useViews()
  const recent = useRecent()
  const found = usePaletteSearch(text.trim())
  const [actsOf, setActsOf] = useState<Entry>()
  const all = inOrder(matching(commands, text), matching(views, text).map(takeFirst), found.groups.map(withActsOfOnlyOne), text)
  const shown = actsOf?.acts ? [{ title: actsOf.label, entries: actsOf.acts }] : text === '' ? [recent, ...all] : all
  return {
    groups: shown.filter(({ entries }) => entries.length > 0),
    found,
    showActsOf: setActsOf,
    /** Returns false if the acts of one record are not shown. */
    hideActs: (): boolean => {
      setActsOf(undefined)
      return actsOf !== undefined
    },
  }
}

/** If only one player was found, what can be done is listed at once. */
function withActsOfOnlyOne<Found extends Group>(group: Found): Found {
  const [only, ...others] = group.entries
  if (!only?.acts || others.length > 0) return group
  const { acts, ...entry } = only
  return { ...group, entries: [entry, ...acts.filter(({ to }) => to === undefined)] }
}

/** The entry that Enter opens: at first the first one. `move` selects another one by an arrow or page key; it returns false for other keys. */
function useActiveEntry(entries: readonly Entry[]) {
  const [activeId, setActiveId] = useState<string>()
  const active = entries.find((entry) => entry.id === activeId) ?? entries[0]

  const move = (key: string): boolean => {
    const at = active ? entries.indexOf(active) : -1
    const target = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: entries.length - 1, PageUp: 0 }[key]
    if (target === undefined) return false
    setActiveId(entries.at(target % entries.length)?.id)
    return true
  }
  return { active, setActiveId, move }
}

/** Closes the palette, which gives the focus back, then runs the chosen entry. */
function useChoice(entries: readonly Entry[], isSearching: boolean, close: () => void) {
  const chosen = useRef<Entry>(undefined)
  /** Enter was pressed before there were results. */
  const [isAwaited, setIsAwaited] = useState(false)

  const choose = (entry: Entry | undefined) => {
    if (!entry) return
    chosen.current = entry
    close()
  }
  const chooseFirst = useEffectEvent(() => choose(entries[0]))
  useEffect(() => {
    if (isAwaited && !isSearching) chooseFirst()
  }, [isAwaited, isSearching])

  useLayoutEffect(() => {
    return () => {
      if (!chosen.current) return
      const { id, label, detail, Icon, to, run } = chosen.current
      if (to !== undefined)
        keepOpened({ id: id.replace(/^recent /, ''), label, ...(detail !== undefined && { detail }), Icon, to })
      run()
    }
  }, [])

  return {
    choose,
    /** Chooses the first entry once the search has ended. */
    awaitFirst: () => setIsAwaited(isSearching),
    stopAwaiting: () => setIsAwaited(false),
  }
}

interface FooterProps {
  /** The palette's id. */
  id: string
  results: ReturnType<typeof useResults>
}

/** The number of results, which screen readers read out, and a hint if more can be done with the active entry. */
function Footer({ id, results: { text, groups, found, active } }: FooterProps) {
  return (
    <Spotlight.Footer className={classes['footer'] ?? ''}>
      <output id={`${id}-body`}>{statusText(groups, text, found.isSearching)}</output>
      {active?.acts && (
        <span className={classes['hint']} aria-hidden>
          <kbd>→</kbd> more acts
        </span>
      )}
    </Spotlight.Footer>
  )
}

interface SearchFieldProps extends FooterProps {
  choice: ReturnType<typeof useChoice>
  onClose: () => void
  takeTyped: () => string
}

/** The field, which keeps the focus: its keys select, choose and close. */
function SearchField({ id, results, choice, onClose, takeTyped }: SearchFieldProps) {
  const { entries, active } = results
  const handleKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.nativeEvent.isComposing) return
    const { selectionStart, value } = event.currentTarget
    if (event.key === 'Enter' && active) choice.choose(active)
    else if (event.key === 'Enter') choice.awaitFirst()
    else if (isPaletteKey(event)) onClose()
    else if (event.key === 'ArrowRight' && active?.acts && selectionStart === value.length) results.showActs(active)
    else if (!(event.key === 'ArrowLeft' && results.hideActs()) && !results.move(event.key)) return
    event.preventDefault()
    event.stopPropagation() // Spotlight would select and open an entry by itself
  }
  const handleFocus = () => {
    const typed = takeTyped()
    if (typed !== '') results.search(results.text + typed)
  }
  return (
    <Spotlight.Search
      // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- a combobox with a list of its own (ARIA APG)
      role="combobox"
      aria-label="Search pages, actions, players, users, tasks, announcements and notes"
      aria-expanded={entries.length > 0}
      aria-controls={`${id}-list`}
      aria-autocomplete="list"
      aria-activedescendant={active && optionId(id, active)}
      placeholder="Search"
      autoComplete="off"
      spellCheck={false}
      data-autofocus
      className={classes['field'] ?? ''}
      leftSection={<IconSearch size={20} stroke={1.75} aria-hidden />}
      rightSection={<CloseButton aria-label="Close" onClick={onClose} />}
      onFocus={handleFocus}
      onKeyDownCapture={handleKeyDown}
    />
  )
}

interface PaletteGroupProps {
  /** The palette's id. */
  id: string
  group: Group
  active: Entry | undefined
  /** Called when the pointer moves over an entry that is not active. */
  onPoint: (entry: Entry) => void
  onChoose: (entry: Entry) => void
  onActs: (entry: Entry) => void
}

function PaletteGroup({ id, group, active, onPoint, onChoose, onActs }: PaletteGroupProps) {
  const { title, entries, total, isMore = false } = group
  return (
    <Spotlight.ActionsGroup
      // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- a group of options, not of form controls
      role="group"
      aria-label={title}
      label={total !== undefined && total > entries.length ? `${title} · ${shownText(entries.length, total, isMore)}` : title}
      className={classes['group'] ?? ''}
    >
      {entries.map((entry) => (
        <Option
          key={entry.id}
          id={optionId(id, entry)}
          entry={entry}
          isActive={entry === active}
          onPoint={() => onPoint(entry)}
          onChoose={() => onChoose(entry)}
          onActs={() => onActs(entry)}
        />
      ))}
    </Spotlight.ActionsGroup>
  )
}

interface OptionProps {
  id: string
  entry: Entry
  isActive: boolean
  onPoint: () => void
  onChoose: () => void
  onActs: () => void
}

function Option({ id, entry: { label, detail, keys, Icon, acts }, isActive, onPoint, onChoose, onActs }: OptionProps) {
  const option = useRef<HTMLButtonElement>(null)
  // Spotlight's option passes no id on.
  useLayoutEffect(() => {
    if (option.current) option.current.id = id
  }, [id])
  useEffect(() => {
    if (isActive) option.current?.scrollIntoView({ block: 'nearest' })
  }, [isActive])
  return (
    <Spotlight.Action
      ref={option}
      // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- an option of the listbox above
      role="option"
      aria-selected={isActive}
      {...(acts && { 'aria-description': 'Right arrow: more acts' })}
      className={classes['option'] ?? ''}
      onPointerMove={() => !isActive && onPoint()}
      onClick={onChoose}
      closeSpotlightOnTrigger={false}
    >
      <Icon className={classes['icon']} size={18} stroke={1.75} aria-hidden />
      <span className={classes['label']}>{label}</span>
      {detail && <span className={classes['detail']}>{detail}</span>}
      {keys && (
        <span className={classes['detail']} data-keys>
          {keys}
        </span>
      )}
      {acts && (
        // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-static-element-interactions -- the right arrow does the same
        <span
          className={classes['more']}
          title="More acts"
          onClick={(event) => {
            event.stopPropagation()
            onActs()
          }}
        >
          <IconChevronRight size={18} stroke={1.75} aria-hidden />
        </span>
      )}
    </Spotlight.Action>
  )
}

function optionId(id: string, entry: Entry): string {
  return `${id} ${entry.id}`.replaceAll(/\s/g, '-')
}

/** Names the groups whose search failed. */
function SearchProblem({ failed, onRetry }: { failed: readonly string[]; onRetry: () => void }) {
  if (failed.length === 0) return null
  return (
    <p role="alert" className={classes['problem']}>
      {failed.join(', ')} could not be searched.
      <Button variant="default" size="compact-sm" onClick={onRetry}>
        Retry
      </Button>
    </p>
  )
}

function statusText(groups: readonly Group[], text: string, isSearching: boolean): string {
  if (isSearching) return 'Searching…'
  return groups.length === 0 ? `Nothing found for “${text.trim()}”.` : resultsText(groups)
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
