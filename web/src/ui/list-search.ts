/** What the address of a list holds, read before its page is loaded: nothing here may pull in a page or the contract's schemas. */

export interface ListSearch<Sort extends string> {
  /** What is looked for. */
  q?: string | undefined
  sort?: Sort | undefined
  reversed?: true | undefined
  /** From 2 on. */
  page?: number | undefined
}

type Given = Record<string, unknown>

/** The part that all lists have. The first of `sorts` is the list's own order. What is not understood is left out. */
export function listSearch<Sort extends string>(given: Given, sorts: readonly Sort[]): ListSearch<Sort> {
  const number = Number(given['page'])
  const sort = oneOf(given['sort'], sorts)
  return defined({
    q: textOf(given['q']),
    sort: sort === sorts[0] ? undefined : sort,
    reversed: given['reversed'] === true || given['reversed'] === 'true' ? (true as const) : undefined,
    page: Number.isSafeInteger(number) && number > 1 ? number : undefined,
  })
}

export function oneOf<Value extends string>(given: unknown, values: readonly Value[]): Value | undefined {
  return values.find((value) => value === given)
}

/** A text, also one that the router has read as a number. */
export function textOf(given: unknown): string | undefined {
  return (typeof given === 'string' && given !== '') || typeof given === 'number' ? String(given) : undefined
}

export function numberOf(given: unknown): number | undefined {
  return typeof given === 'number' && Number.isFinite(given) ? given : undefined
}

/** A day as `<input type="date">` has it. */
export function dayOf(given: unknown): string | undefined {
  return typeof given === 'string' && /^\d{4}-\d\d-\d\d$/.test(given) && !Number.isNaN(Date.parse(given)) ? given : undefined
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

/** Without the keys that have no value: they would stand in the address. */
export function defined<T extends object>(values: T): Defined<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Defined<T>
}

interface ListControls<Search, Values> {
  search: Search
  /** The sort that needs no mention in the address. */
  ownSort: string
  /** What is filtered by, by the filters' names. */
  values: Values
  /** Goes to the first page of the list as `next` changes it. */
  show: (next: Search, replace?: boolean) => void
}

/** What a table and its toolbar need to show and to change the list's place in the address. */
export function listControls<Search extends ListSearch<string>, Values>({
  search: { q, sort, reversed },
  ownSort,
  values,
  show,
}: ListControls<Search, Values>) {
  return {
    toolbar: {
      search: q ?? '',
      onSearch: (text: string) => show({ q: text || undefined } as Search, true),
      values,
      onFilter: (next: object) => show(next as Search),
    },
    sorting: {
      sort: sort ?? ownSort,
      isReversed: reversed ?? false,
      onSort: (by: string, isReversed: boolean) =>
        show({ sort: by === ownSort ? undefined : by, reversed: isReversed || undefined } as Search),
    },
  }
}
