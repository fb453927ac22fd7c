/**
 * The one OR of a list's filters: groups of filters, of which a row must match at least one. While a group is being filled in, what is
 * complete is reported: a filter without a value and a group without filters count as not there yet.
 */
import { MAX_GROUPS, MAX_GROUPS_TEXT_LENGTH } from '@arcade/contract/filter-values'
import { Button, CloseButton, NativeSelect } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useEffect, useRef, useState } from 'react'
import classes from './filter-fields.module.css'
import { FilterField } from './filter-field.tsx'
import { type FilterValue, groupsIn, type GroupsFilter, rangeProblem, type SimpleFilter } from './filter-words.ts'

interface FilterGroupsProps {
  filter: GroupsFilter
  value: FilterValue
  onChange: (value: FilterValue) => void
}

interface EditedGroup {
  key: string
  /** The group's filters in the order in which they were added; `typed` is what their fields show. */
  parts: readonly { name: string; value: FilterValue; typed: FilterValue }[]
}

export function FilterGroups(props: FilterGroupsProps) {
  const { label, filters } = props.filter
  const { groups, isTooLong, added, change, add } = useEditedGroups(props)
  const container = useRef<HTMLFieldSetElement>(null)
  useEffect(() => {
    const controls = container.current?.querySelectorAll<HTMLElement>('[data-group] > :last-child select')
    if (added > 0 && controls) Array.from(controls).at(-1)?.focus()
  }, [added])
  const changeGroup = (changed: EditedGroup) => change(groups.map((group) => (group.key === changed.key ? changed : group)))

  return (
    <fieldset ref={container} className={classes['groups']}>
      <legend>{label}</legend>
      <p className={classes['hint']}>
        {groups.length === 0
          ? 'Players who match all of the above and at least one group of further conditions.'
          : 'A player matches all of the above and at least one of these groups.'}
      </p>
      {groups.map((group, index) => (
        <Group
          key={group.key}
          name={`Group ${index + 1}`}
          group={group}
          filters={filters}
          onChange={changeGroup}
          onRemove={() => change(groups.filter((other) => other !== group))}
        />
      ))}
      <div aria-live="polite">
        {isTooLong && <p className={classes['problem']}>These groups are too long, so the last change is not applied.</p>}
      </div>
      {groups.length < MAX_GROUPS && (
        <Button
          variant="default"
          size="compact-md"
          leftSection={<IconPlus size={16} aria-hidden />}
          className={classes['add'] ?? ''}
          onClick={add}
        >
          {groups.length === 0 ? 'Add a group' : 'Or another group'}
        </Button>
      )}
    </fieldset>
  )
}

/** Returns the groups as they are filled in, with functions that change them. A change reports the complete groups, unless they are too long. */
function useEditedGroups({ filter: { filters }, value, onChange }: FilterGroupsProps) {
  const [groups, setGroups] = useState(() => toEdited(value))
  const [reported, setReported] = useState(value)
  const [seen, setSeen] = useState(value)
  const [isTooLong, setIsTooLong] = useState(false)
  const [added, setAdded] = useState(0)

  // A value that was reported arrives later, when the page has navigated. Another one was set elsewhere: by the chip, Back or a saved view.
  if (value !== seen) {
    setSeen(value)
    if (value !== reported) {
      setReported(value)
      setGroups(toEdited(value))
      setIsTooLong(false)
    }
  }

  return {
    groups,
    isTooLong,
    /** How many groups were added. Each is the last one, and gets the focus. */
    added,
    change: (next: EditedGroup[]) => {
      setGroups(next)
      const text = toText(filters, next)
      const isLong = (text?.length ?? 0) > MAX_GROUPS_TEXT_LENGTH
      setIsTooLong(isLong)
      if (isLong || text === reported) return
      setReported(text)
      onChange(text)
    },
    add: () => {
      setGroups([...groups, { key: `added ${added}`, parts: [] }])
      setAdded(added + 1)
    },
  }
}

interface GroupProps {
  name: string
  group: EditedGroup
  filters: readonly SimpleFilter[]
  onChange: (group: EditedGroup) => void
  onRemove: () => void
}

function Group({ name, group, filters, onChange, onRemove }: GroupProps) {
  const { parts } = group
  const container = useRef<HTMLFieldSetElement>(null)
  const [added, setAdded] = useState<string>()
  useEffect(() => {
    if (added === undefined) return
    const fields = container.current?.querySelectorAll<HTMLElement>('[data-part] :is(input, select)')
    if (fields) Array.from(fields).at(-1)?.focus()
  }, [added])
  const values = Object.fromEntries(parts.map(({ name: of, value }) => [of, value]))
  const free = filters.filter((filter) => !parts.some((part) => part.name === filter.name))
  const changePart = (changed: EditedGroup['parts'][number]) =>
    onChange({ ...group, parts: parts.map((part) => (part.name === changed.name ? changed : part)) })
  const handleAdd = (chosen: string) => {
    onChange({ ...group, parts: [...parts, { name: chosen, value: undefined, typed: undefined }] })
    setAdded(chosen)
  }
  return (
    <fieldset ref={container} className={classes['group']} data-group>
      <legend className="app-sr-only">{name}</legend>
      <div className={classes['groupHead']}>
        <span aria-hidden>{name}</span>
        <CloseButton size="sm" aria-label={`Remove ${name}`} onClick={onRemove} />
      </div>
      {parts.map((part) => {
        const filter = filters.find((one) => one.name === part.name)
        if (!filter) return null
        return (
          <div key={part.name} data-part className={classes['part']}>
            <FilterField
              filter={filter}
              value={part.value}
              typed={part.typed}
              problem={rangeProblem(filter, values)}
              onType={(typed) => changePart({ ...part, typed })}
              onChange={(value) => changePart({ ...part, value, typed: value })}
            />
            <CloseButton
              size="sm"
              aria-label={`Remove ${filter.label} of ${name}`}
              onClick={() => onChange({ ...group, parts: parts.filter((other) => other !== part) })}
            />
          </div>
        )
      })}
      {free.length > 0 && (
        <NativeSelect
          aria-label={`Add a condition to ${name}`}
          value=""
          data={[
            { value: '', label: parts.length === 0 ? 'Choose a condition…' : 'And…' },
            ...free.map((filter) => ({ value: filter.name, label: filter.label })),
          ]}
          onChange={({ target }) => target.value !== '' && handleAdd(target.value)}
        />
      )}
    </fieldset>
  )
}

function toEdited(value: FilterValue): EditedGroup[] {
  return groupsIn(value).map((group, index) => ({
    key: `${index} of ${value}`, // another value is drawn anew
    parts: Object.entries(group).map(([name, partValue]) => ({ name, value: partValue, typed: partValue })),
  }))
}

/** Returns the complete groups as JSON, with the filters of each in the order of their declaration, as the address has them; undefined if there are none. */
function toText(filters: readonly SimpleFilter[], groups: readonly EditedGroup[]): string | undefined {
  const complete = groups.map(({ parts }) =>
    filters.flatMap(({ name }) => {
      const value = parts.find((part) => part.name === name)?.value
      return value === undefined ? [] : [[name, value] as const]
    }),
  )
  const written = complete.filter((group) => group.length > 0).map((group) => Object.fromEntries(group))
  return written.length === 0 ? undefined : JSON.stringify(written)
}
