/**
 * The command palette: finds pages, actions, players, users, tasks and announcements. It is a combobox with a grouped listbox (ARIA APG):
 * the focus stays in the field, the arrow keys select, Enter opens.
 */
import { SEARCH_MAX_LENGTH } from '@arcade/contract/entity'
import { firstCharacters } from '@arcade/contract/text'
import { type ChangeEvent, type KeyboardEvent, type RefObject, useEffect, useEffectEvent, useId, useRef, useState } from 'react'
import { formattedTotal } from '#src/ui/numbers.ts'
import classes from './overlay.module.css'
import { type Entry, type Group, inOrder, matching, takeFirst, useCommands, useViews } from './palette-entries.ts'
import { useFound } from './palette-search.ts'
import { isPaletteKey, type OverlayProps } from './shortcut-keys.ts'

export function Palette({ onClose, onKeyboardMap }: OverlayProps) {
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  const [text, setText] = useState('')
  const { groups, found } = useGroups(text, onKeyboardMap)
  const entries = groups.flatMap((group) => group.entries)
  const { active, activeOptionId, setActiveId, move } = useActiveEntry(id, entries)
  const { choose, awaitFirst, stopAwaiting, handleClose } = useChoice(dialog, entries, found.isSearching, onClose)

  const handleText = (event: ChangeEvent<HTMLInputElement>) => {
    setText(firstCharacters(event.currentTarget.value, SEARCH_MAX_LENGTH))
    setActiveId(undefined)
    stopAwaiting()
  }
  const handleKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Enter' && active) choose(active)
    else if (event.key === 'Enter') awaitFirst()
    else if (isPaletteKey(event)) dialog.current?.close()
    else if (!move(event.key)) return
    event.preventDefault()
  }

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
          value={text}
          onChange={handleText}
          onKeyDown={handleKeyDown}
        />
        <button type="button" className={classes['close']} onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
      <Results id={id} groups={groups} active={active} onPoint={(entry) => setActiveId(entry.id)} onChoose={choose} />
      {!found.isSearching && <SearchProblem failed={found.failed} onRetry={found.retry} />}
      <output className={classes['status']}>{statusText(groups, text, found.isSearching)}</output>
    </dialog>
  )
}

/** Returns the groups with entries for the text, and the state of the search on the server. */
function useGroups(text: string, onKeyboardMap: () => void) {
  const commands = useCommands(onKeyboardMap)
  const views = useViews()
  const found = useFound(text.trim())
  const groups = inOrder(matching(commands, text), matching(views, text).map(takeFirst), found.groups, text)
  return { groups: groups.filter(({ entries }) => entries.length > 0), found }
}

/** The entry that Enter opens: at first the first one. `move` selects another one by an arrow or page key; it returns false for other keys. */
function useActiveEntry(id: string, entries: readonly Entry[]) {
  const [activeId, setActiveId] = useState<string>()
  const active = entries.find((entry) => entry.id === activeId) ?? entries[0]
  const activeOptionId = active && optionId(id, active)
  useEffect(() => {
    if (activeOptionId) document.getElementById(activeOptionId)?.scrollIntoView({ block: 'nearest' })
  }, [activeOptionId])

  const move = (key: string): boolean => {
    const at = active ? entries.indexOf(active) : -1
    const target = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: entries.length - 1, PageUp: 0 }[key]
    if (target === undefined) return false
    setActiveId(entries.at(target % entries.length)?.id)
    return true
  }
  return { active, activeOptionId, setActiveId, move }
}

/** Closes the dialog, then runs the chosen entry: closing moves the focus back. */
function useChoice(
  dialog: RefObject<HTMLDialogElement | null>,
  entries: readonly Entry[],
  isSearching: boolean,
  onClose: () => void,
) {
  const chosen = useRef<Entry>(undefined)
  /** Enter was pressed before there were results. */
  const [isAwaited, setIsAwaited] = useState(false)

  const choose = (entry: Entry | undefined) => {
    if (!entry) return
    chosen.current = entry
    dialog.current?.close()
  }
  const chooseFirst = useEffectEvent(() => choose(entries[0]))
  useEffect(() => {
    if (isAwaited && !isSearching) chooseFirst()
  }, [isAwaited, isSearching])

  return {
    choose,
    /** Chooses the first entry once the search has ended. */
    awaitFirst: () => setIsAwaited(isSearching),
    stopAwaiting: () => setIsAwaited(false),
    handleClose: () => {
      onClose()
      chosen.current?.run()
    },
  }
}

interface ResultsProps {
  /** The palette's id, from which the ids of the list and its options are made. */
  id: string
  groups: readonly Group[]
  active: Entry | undefined
  /** Called when the pointer moves over an entry that is not active. */
  onPoint: (entry: Entry) => void
  onChoose: (entry: Entry) => void
}

function Results({ id, groups, active, onPoint, onChoose }: ResultsProps) {
  return (
    // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- the list of a combobox (ARIA APG)
    <div id={`${id}-list`} role="listbox" aria-label="Results" className={classes['list']} tabIndex={-1}>
      {groups.map(({ title, entries, total, isMore = false }) => (
        // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- a group of options, not of form controls
        <div key={title} role="group" aria-label={title}>
          <p className={classes['group']} aria-hidden>
            {title}
            {total !== undefined && total > entries.length && ` · ${shownText(entries.length, total, isMore)}`}
          </p>
          {entries.map((entry) => (
            // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus -- the field has the focus and the keys (ARIA combobox)
            <div
              key={entry.id}
              id={optionId(id, entry)}
              // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- an option of the listbox above
              role="option"
              aria-selected={entry === active}
              className={classes['option']}
              onPointerMove={() => entry !== active && onPoint(entry)}
              onClick={() => onChoose(entry)}
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
      <button type="button" className={classes['close']} onClick={onRetry}>
        Retry
      </button>
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
