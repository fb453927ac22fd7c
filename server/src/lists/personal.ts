/**
 * Withholds personal fields of players (contract/src/personal.ts) from people whose role lacks `players.personal`. For them a list has the
 * same columns without these values, is searched without them, and refuses filters by them. Bots and players are not restricted.
 */
import { LOOK_PARAMETERS } from '@arcade/contract/address-filters'
import type { Fields, List } from '@arcade/contract/entity'
import { isPersonalFilter, personalFilters, personalNames } from '@arcade/contract/personal'
import { type CallContext, Failure, refuseWithoutPermission } from '#src/calls.ts'
import { columnTypes, type Masks } from '#src/db/entities.ts'

type Caller = Pick<CallContext, 'caller'>

/** Whether the caller may see and use personal fields of players. @param context undefined for the server itself */
export function seesPersonal(context: Caller | undefined): boolean {
  return context?.caller.kind !== 'user' || context.caller.user.permissions.includes('players.personal')
}

/** @throws Failure FORBIDDEN if the caller may not see personal fields of players */
export function refuseWithoutPersonal({ caller }: Caller): void {
  if (caller.kind === 'user') refuseWithoutPermission('players.personal', caller.user)
}

/** @throws Failure FORBIDDEN if a filter tells something about personal fields that the caller may not see */
export function refusePersonalFilters(
  list: Pick<List, 'fields' | 'filters'>,
  filter: Readonly<Record<string, unknown>>,
  context: Caller | undefined,
): void {
  if (context && !seesPersonal(context) && personalFilters(list, filter).length > 0) refuseWithoutPersonal(context)
}

/**
 * Refuses a search that the server will run later, when it finds players by personal fields, too.
 * @throws Failure FORBIDDEN if the caller may not see personal fields of players
 */
export function refuseKeptSearch(search: string | undefined, context: Caller): void {
  if (seesPersonal(context) || (search ?? '').trim() === '') return
  const message =
    'This search would also find players by personal fields, for which your role lacks the permission (players.personal).'
  throw new Failure('FORBIDDEN', { message })
}

/**
 * Whether the address of a list's page, such as a saved view has, may tell something about personal fields: it has a search, a filter by
 * such a field, or a part that the page does not know. False for lists without personal fields.
 */
export function mayTellPersonal(list: Pick<List, 'fields' | 'filters'>, address: string): boolean {
  if (personalNames(list.fields).length === 0) return false
  return [...new URLSearchParams(address)].some(([name, value]) => {
    if (Object.hasOwn(list.filters, name)) return isPersonalFilter(list, name, value)
    return value.trim() !== '' && !LOOK_PARAMETERS.has(name) && !isDayName(list, name)
  })
}

function isDayName({ filters }: Pick<List, 'filters'>, name: string): boolean {
  return Object.values(filters).some((filter) => filter.kind === 'before' && filter.dayName === name)
}

/** Returns SQL that is selected instead of the personal fields: there is no value. */
export function personalMasks(fields: Fields): Masks {
  return Object.fromEntries(personalNames(fields).map((name) => [name, `null::${columnTypes[fields[name]!.kind]}`]))
}

/**
 * Returns the beginning of the names of a list's prepared statements. PostgreSQL shortens names to 63 bytes, so the mark of a list without
 * personal fields is one character.
 */
export function statementName({ list, masks }: { list: Pick<List, 'name'>; masks?: Masks | undefined }): string {
  return masks ? `${list.name}*` : list.name
}

/** Makes a value for callers who see personal fields, and a second one, when it is first needed, for the others. */
export function forPersonalAccess<T>(make: (sees: boolean) => T): (context: Caller) => T {
  const whole = make(true)
  let withoutPersonal: { made: T } | undefined
  return (context) => (seesPersonal(context) ? whole : (withoutPersonal ??= { made: make(false) }).made)
}
