/** Creates schemas from the declarations of entities and lists. */
import { z } from 'zod'
import { bulkTarget } from './bulk.ts'
import {
  MAX_FILTER_DAYS,
  MAX_FILTER_TEXT_LENGTH,
  MAX_NUMBER,
  type Field,
  type Fields,
  type FieldValue,
  type Filter,
  type FilterValue,
  type KindTypes,
  type List,
  type SortName,
} from './entity.ts'
import {
  MAX_GROUPS,
  MAX_GROUPS_TEXT_LENGTH,
  filterNamesInGroups,
  readOptions,
  readGroups,
  readItem,
  writeGroups,
} from './filter-values.ts'
import { cursorField, numberParameter, reversedField, searchField } from './field-schemas.ts'
import { isStorable } from './text.ts'

/** Returns the schema of an entity's row in the API. */
export function rowSchema<const Fs extends Fields>(fields: Fs) {
  const shape = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, fieldSchema(field)]))
  return z.object(shape as { [Name in keyof Fs]: z.ZodType<FieldValue<Fs[Name]>> })
}

function fieldSchema(field: Field): z.ZodType {
  const schema = presentSchema(field)
  return field.isOptional ? schema.nullable() : schema
}

function presentSchema(field: Field): z.ZodType {
  if (field.kind === 'choice') return z.enum(Object.keys(field.options))
  return kindSchemas[field.kind]
}

const kindSchemas = {
  text: z.string(),
  number: z.number(),
  integer: z.int(),
  moment: z.iso.datetime(),
  flag: z.boolean(),
} satisfies { [Kind in keyof KindTypes]: z.ZodType<KindTypes[Kind]> }

const amountField = numberParameter.pipe(z.number().min(-MAX_NUMBER).max(MAX_NUMBER))
const momentField = z.iso.datetime({ offset: true })
const offeredTextField = z.string().max(MAX_FILTER_TEXT_LENGTH).refine(isStorable)

/** Returns the schema of a list's search and filters. */
export function filterSchema<const L extends List>(list: L) {
  const filters = Object.fromEntries(
    Object.entries(list.filters).map(([name, filter]) => [name, valueSchema(list, filter).optional()]),
  )
  type Shape = { search: typeof searchField } & {
    [Name in keyof L['filters']]: z.ZodOptional<z.ZodType<FilterValue<L['filters'][Name]>>>
  }
  return z.strictObject({ search: searchField, ...filters } as Shape)
}

function valueSchema(list: List, filter: Filter): z.ZodType {
  if (filter.kind === 'choice') return z.enum(Object.keys(filter.options))
  if (filter.kind === 'text') return offeredTextField
  if (filter.kind === 'days') return daysField
  if (filter.kind === 'item') return itemFilterField
  if (filter.kind === 'all') return allField(filter.options)
  if (filter.kind === 'groups') return groupsField(list)
  return filter.kind === 'min' || filter.kind === 'max' ? amountField : momentField
}

const DAYS_RULE = `Give a whole number of days from 1 to ${MAX_FILTER_DAYS}`
const daysField = numberParameter.pipe(z.int(DAYS_RULE).min(1, DAYS_RULE).max(MAX_FILTER_DAYS, DAYS_RULE))
const ITEM_RULE = 'Give an item as its kind and its id, such as social:4711'
const itemFilterField = z.string(ITEM_RULE).refine((text) => readItem(text) !== undefined, ITEM_RULE)

function allField(options: Readonly<Record<string, string>>) {
  const rule = `Give one or more of ${Object.keys(options).join(', ')}, separated by commas`
  return z.string(rule).transform((text, context) => readOptions(options, text) ?? refused(context, rule))
}

/** Takes the list of groups itself, too, where the input is JSON. Returns its text, so that a filter can be kept and parsed again. */
function groupsField(list: List) {
  const names = filterNamesInGroups(list).join(', ')
  const rule = `Give 1 to ${MAX_GROUPS} groups as a JSON list, [{…}, {…}], each with one or more of ${names}, in at most ${MAX_GROUPS_TEXT_LENGTH} characters`
  return z.union([z.string(), z.array(z.record(z.string(), z.unknown()))], rule).transform((given, context) => {
    const groups = readGroups(list, typeof given === 'string' ? given : JSON.stringify(given))
    return groups ? writeGroups(groups) : refused(context, rule)
  })
}

function refused(context: z.core.$RefinementCtx, message: string): never {
  context.addIssue({ code: 'custom', message })
  return z.NEVER
}

/** Returns the query fields for a list's order. */
export function orderFields<const L extends List>(list: L) {
  const sort = z.enum(Object.keys(list.sorts) as SortName<L>[]) as z.ZodType<SortName<L>>
  return { sort: sort.default(list.defaultSort as z.util.NoUndefined<SortName<L>>), reversed: reversedField }
}

/** Returns the query fields for the page and order of a list paged by cursors. Refine the query with `oneCursor`. */
export function cursorQueryFields<const L extends List>(list: L) {
  const pageSize = z.literal(list.pageSizes as readonly L['pageSizes'][number][])
  return {
    ...orderFields(list),
    pageSize: numberParameter.pipe(pageSize).default(list.pageSizes[0]),
    after: cursorField.optional(),
    before: cursorField.optional(),
  }
}

/** Returns the schema of a bulk call's target: picked rows, or all that a filter matches. */
export function targetSchema<const L extends List>(list: L) {
  return bulkTarget(filterSchema(list))
}
