/**
 * Analyses a statement's parse tree for distribution-rules.ts. Each query in the statement is a level, with the entries of its FROM
 * clause, the equalities that its conditions imply, and the columns of outer levels that it refers to.
 */
import type { CommonTableExpr, JoinExpr, Node, RangeVar, SelectStmt } from 'libpg-query'
import { inject } from 'vitest'
import { DISTRIBUTED_TABLES } from '#src/postgres/citus.ts'
import { as, findAll, inExpression, nameOf, PLAYER, type Statement, statementOf } from './statement-tree.ts'

/** What a level reads or changes: an item of its FROM clause, or the table of an UPDATE, DELETE, INSERT or MERGE. */
export interface Entry {
  id: number
  name: string
  /** `distributed` and `local` are tables, `derived` is a subquery or WITH query, `other` is a function or VALUES. */
  kind: 'distributed' | 'local' | 'derived' | 'other'
  table?: string
  /** Undefined if they are not known. */
  columns?: readonly string[] | undefined
  /** The columns that hold the row's player, `user_id`. */
  keys: readonly string[]
  /** Whether its rows are still on many shards when it is joined, not yet gathered on the coordinator. */
  isSpread: boolean
  /** Whether it is VALUES with a single row, which acts like constants. */
  isRow?: boolean
  /** The level of the subquery or WITH query, if the entry is `derived`. */
  source?: Level
}

export interface Level {
  statement: Statement
  parent: Level | undefined
  role: 'statement' | 'with' | 'from' | 'lateral' | 'expression' | 'exists'
  /** Whether it is one side of an outer join. */
  isOptional?: boolean
  entries: Entry[]
  ties: Ties
  /** Its own tables and those of its correlated subqueries: Citus must read them together with the outer levels. */
  read: { entry: Entry; ties: Ties }[]
  /** The columns of outer levels that this level and its subqueries refer to. Not empty for a correlated subquery. */
  asks: { level: Level; entry: Entry }[]
  inner: Level[]
  ctes: Map<string, Entry>
}

/** Returns all levels of a statement, inner ones first. DDL has none unless it contains a query. */
export function levelsOf(node: Node): Level[] {
  const levels: Level[] = []
  const [query] = findAll(node, (found) => statementOf(found) !== undefined, { isDeep: false })
  if (query) readLevel({ node: query, parent: undefined, role: 'statement', levels, uses: countUses(node) })
  return levels
}

/** Terms (a `column` of an entry, or a constant) that are equal by the conditions of a level and of its outer levels. */
export class Ties {
  readonly #pairs: [string, string][] = []
  readonly #around: Ties | undefined

  constructor(around?: Ties) {
    this.#around = around
  }

  add(one: string, other: string): void {
    this.#pairs.push([one, other])
  }

  of(term: string): Set<string> {
    const found = new Set([term])
    const pairs = this.#all()
    for (let size = 0; size !== found.size;) {
      size = found.size
      for (const [one, other] of pairs) if (found.has(one) || found.has(other)) found.add(one).add(other)
    }
    return found
  }

  /** Returns the constant that the term equals, if any. */
  constant(term: string): string | undefined {
    return [...this.of(term)].find((one) => one.startsWith('='))
  }

  #all(): [string, string][] {
    return this.#around ? [...this.#around.#all(), ...this.#pairs] : this.#pairs
  }
}

export function column(entry: Entry, name: string): string {
  return `${entry.id}.${name}`
}

/** Whether a level's rows are on many shards when it is joined: false if a limit, DISTINCT or grouping gathers them on the coordinator. */
export function isSpread({ statement, entries }: Level): boolean {
  if (statement.kind !== 'SelectStmt' || !entries.some((entry) => entry.isSpread)) return false
  const { limitCount, limitOffset, groupClause, distinctClause } = statement.fields
  if (limitCount ?? limitOffset ?? distinctClause) return false
  return groupClause === undefined ? !isAggregate(statement.fields) : groupsByPlayer(statement.fields)
}

/** Whether PostgreSQL can pull the subquery up into the outer FROM clause. */
export function isSimple({ statement }: Level): boolean {
  if (statement.kind !== 'SelectStmt') return false
  const { limitCount, limitOffset, groupClause, distinctClause, sortClause, havingClause, valuesLists } = statement.fields
  return (
    !(limitCount ?? limitOffset ?? groupClause ?? distinctClause ?? sortClause ?? havingClause ?? valuesLists) &&
    !isAggregate(statement.fields)
  )
}

function isAggregate({ targetList }: SelectStmt): boolean {
  return inExpression(targetList, 'FuncCall').some(
    ({ funcname, over, agg_star }) =>
      !over && (agg_star === true || inject('testServer').catalog.aggregates.includes(nameOf(funcname))),
  )
}

function groupsByPlayer({ groupClause = [], targetList = [] }: SelectStmt): boolean {
  return groupClause.some((group) => {
    const position = as(group, 'A_Const')?.ival?.ival
    const grouped = position === undefined ? group : as(targetList[position - 1], 'ResTarget')?.val
    return nameOf(as(grouped, 'ColumnRef')?.fields) === PLAYER
  })
}

let lastId = 0

interface Reading {
  node: Node
  parent: Level | undefined
  role: Level['role']
  levels: Level[]
  uses: Map<string, number>
}

function readLevel({ node, parent, role, levels, uses }: Reading): Level {
  const statement = statementOf(node)
  if (!statement) throw new Error(`no query: ${Object.keys(node).join()}`)
  const level: Level = {
    statement,
    parent,
    role,
    entries: [],
    ties: new Ties(role === 'with' ? undefined : parent?.ties),
    read: [],
    asks: [],
    inner: [],
    ctes: new Map(),
  }
  const enter = (inner: Node, innerRole: Level['role']): Level => {
    const found = readLevel({ node: inner, parent: level, role: innerRole, levels, uses })
    level.inner.push(found)
    for (const ask of found.asks) if (ask.level !== level) level.asks.push(ask)
    if (found.asks.length > 0) level.read.push(...found.read)
    else if (innerRole === 'from' && isSimple(found))
      level.read.push(...found.read.map(({ entry }) => ({ entry, ties: level.ties })))
    return found
  }
  for (const one of statement.fields.withClause?.ctes ?? []) {
    const cte = as(one, 'CommonTableExpr')
    if (cte?.ctequery) level.ctes.set(cte.ctename ?? '', withEntry(cte, cte.ctequery))
  }

  function withEntry(cte: CommonTableExpr, query: Node): Entry {
    const source = enter(query, 'with')
    const isGathered = cte.ctematerialized === 'CTEMaterializeAlways' || (uses.get(cte.ctename ?? '') ?? 0) > 1
    return derived(cte.ctename ?? '', source, { isGathered, names: cte.aliascolnames })
  }

  function derived(
    name: string,
    source: Level,
    { isGathered = false, names }: { isGathered?: boolean; names?: Node[] | undefined },
  ): Entry {
    const outputs = outputsOf(source)
    const columns = outputs?.map((output, index) => as(names?.[index], 'String')?.sval ?? output.name)
    const entry: Entry = {
      id: (lastId += 1),
      name,
      kind: 'derived',
      columns,
      keys: [],
      isSpread: !isGathered && isSpread(source),
      source,
    }
    entry.keys = (outputs ?? []).flatMap((output, index) => {
      const own = columns?.[index] ?? ''
      if (output.key === undefined) return []
      for (const term of [output.key, source.ties.constant(output.key)]) if (term) level.ties.add(column(entry, own), term)
      return [own]
    })
    return entry
  }

  function addTable({ relname = '', alias }: RangeVar): Entry[] {
    const cte = findCte(level, relname)
    const name = alias?.aliasname ?? relname
    if (cte) level.entries.push({ ...cte, id: (lastId += 1), name })
    else {
      const isDistributed = (DISTRIBUTED_TABLES as readonly string[]).includes(relname)
      const columns = Object.keys(inject('testServer').catalog.columns[relname] ?? {})
      level.entries.push({
        id: (lastId += 1),
        name,
        kind: isDistributed ? 'distributed' : 'local',
        table: relname,
        columns: columns.length > 0 ? columns : undefined,
        keys: isDistributed ? [PLAYER] : [],
        isSpread: isDistributed,
      })
    }
    return level.entries.slice(-1)
  }

  function addFrom(item: Node | undefined): Entry[] {
    const table = as(item, 'RangeVar') ?? as(as(item, 'RangeTableSample')?.relation, 'RangeVar')
    if (table) return addTable(table)
    const join = as(item, 'JoinExpr')
    if (join) return addJoin(join)
    const subselect = as(item, 'RangeSubselect')
    const alias = subselect?.alias ?? as(item, 'RangeFunction')?.alias
    const name = alias?.aliasname ?? ''
    if (subselect?.subquery && !as(subselect.subquery, 'SelectStmt')?.valuesLists) {
      const source = enter(subselect.subquery, subselect.lateral ? 'lateral' : 'from')
      level.entries.push(derived(name, source, { names: alias?.colnames }))
    } else {
      const columns = alias?.colnames?.flatMap((one) => as(one, 'String')?.sval ?? [])
      level.entries.push({
        id: (lastId += 1),
        name,
        kind: 'other',
        columns: columns ?? (name ? [name] : undefined),
        keys: [],
        isSpread: false,
        isRow: as(subselect?.subquery, 'SelectStmt')?.valuesLists?.length === 1,
      })
      expressions.push(item)
    }
    return level.entries.slice(-1)
  }

  function addJoin({ larg, rarg, jointype, quals, usingClause, isNatural }: JoinExpr): Entry[] {
    const [left, right] = [addFrom(larg), addFrom(rarg)]
    // Citus gathers the optional side of an outer join on the coordinator if the side that keeps all rows is not on shards.
    const gather = (kept: Entry[], others: Entry[]): void => {
      if (!kept.some((entry) => entry.isSpread)) for (const entry of others) entry.isSpread = false
    }
    if (jointype === 'JOIN_LEFT' || jointype === 'JOIN_FULL') gather(left, right)
    if (jointype === 'JOIN_RIGHT' || jointype === 'JOIN_FULL') gather(right, left)
    if (jointype !== 'JOIN_INNER') for (const { source } of [...left, ...right]) if (source) source.isOptional = true
    const shared = isNatural ? [PLAYER] : (usingClause ?? []).map((one) => as(one, 'String')?.sval ?? '')
    for (const name of shared) {
      const [one, other] = [left, right].map((side) => side.find(({ columns }) => columns?.includes(name)))
      if (one && other) level.ties.add(column(one, name), column(other, name))
    }
    conditions.push(quals)
    return [...left, ...right]
  }

  const conditions: (Node | undefined)[] = []
  const expressions: unknown[] = []
  const { kind, fields } = statement
  if (kind !== 'SelectStmt' && fields.relation) addTable(fields.relation)
  if (kind === 'SelectStmt' || kind === 'UpdateStmt') for (const item of fields.fromClause ?? []) addFrom(item)
  if (kind === 'DeleteStmt') for (const item of fields.usingClause ?? []) addFrom(item)
  if (kind === 'MergeStmt') addFrom(fields.sourceRelation)
  if (kind === 'InsertStmt') {
    level.entries.push({ id: (lastId += 1), name: 'excluded', kind: 'other', keys: [], isSpread: false })
    if (fields.selectStmt) enter(fields.selectStmt, 'from')
  }
  if (kind === 'SelectStmt') {
    for (const side of [fields.larg, fields.rarg]) if (side) enter({ SelectStmt: side }, role === 'exists' ? 'exists' : 'from')
  }
  if (kind === 'MergeStmt') conditions.push(fields.joinCondition)
  else if (kind !== 'InsertStmt') conditions.push(fields.whereClause)
  for (const condition of conditions) tie(level, condition)

  const { withClause: _with, ...others } = fields as Record<string, unknown>
  for (const name of ['fromClause', 'usingClause', 'sourceRelation', 'selectStmt', 'larg', 'rarg', 'relation'])
    delete others[name]
  // Next to a distributed table, Citus reads the local tables beforehand.
  const read = level.entries.some((entry) => entry.kind === 'distributed') ? 'distributed' : 'local'
  level.read.push(...level.entries.filter((entry) => entry.kind === read).map((entry) => ({ entry, ties: level.ties })))
  for (const part of findAll([others, expressions, conditions], (found) => 'ColumnRef' in found || 'SubLink' in found, {
    isDeep: false,
  })) {
    const link = as(part, 'SubLink')
    if (link?.subselect) enter(link.subselect, link.subLinkType === 'EXISTS_SUBLINK' ? 'exists' : 'expression')
    for (const { fields: names } of inExpression(link ? link.testexpr : part, 'ColumnRef')) {
      const found = resolve(level, names)
      if (found && found.level !== level) level.asks.push(found)
    }
  }
  levels.push(level)
  return level
}

interface Output {
  name: string
  /** The term of the `user_id` that the column holds, if it does. */
  key?: string | undefined
}

function outputsOf(level: Level): Output[] | undefined {
  const { statement, entries } = level
  if (statement.kind !== 'SelectStmt') return undefined
  if (statement.fields.larg) return level.inner[0] && outputsOf(level.inner[0])?.map(({ name }) => ({ name }))
  const outputs: Output[] = []
  for (const item of statement.fields.targetList ?? []) {
    const target = as(item, 'ResTarget')
    const names = as(target?.val, 'ColumnRef')?.fields ?? []
    if (as(names.at(-1), 'A_Star')) {
      const table = as(names.at(-2), 'String')?.sval
      for (const entry of entries.filter(({ name }) => table === undefined || name === table)) {
        if (!entry.columns) return undefined
        outputs.push(...entry.columns.map((name) => ({ name, key: entry.keys.includes(name) ? column(entry, name) : undefined })))
      }
      continue
    }
    const found = names.length > 0 ? resolve(level, names) : undefined
    const key = found?.level === level && found.entry.keys.includes(found.name) ? column(found.entry, found.name) : undefined
    outputs.push({ name: target?.name ?? (nameOf(names) || nameOf(as(target?.val, 'FuncCall')?.funcname)), key })
  }
  return outputs
}

function resolve(level: Level, names: readonly Node[] = []): { level: Level; entry: Entry; name: string } | undefined {
  const [name = '', table] = names.map((one) => as(one, 'String')?.sval ?? '').toReversed()
  for (let around: Level | undefined = level; around; around = around.parent) {
    const entry = around.entries.find((one) =>
      table === undefined ? (one.columns?.includes(name) ?? false) : one.name === table,
    )
    const whole = table === undefined ? around.entries.find((one) => one.name === name) : undefined
    const found = entry ?? whole
    if (found) return { level: around, entry: found, name }
    if (around.role === 'with') return undefined
  }
  return undefined
}

function findCte(level: Level | undefined, name: string): Entry | undefined {
  return level && (level.ctes.get(name) ?? findCte(level.parent, name))
}

function countUses(node: Node): Map<string, number> {
  const uses = new Map<string, number>()
  for (const part of findAll(node, (found) => 'RangeVar' in found)) {
    const name = as(part, 'RangeVar')?.relname ?? ''
    uses.set(name, (uses.get(name) ?? 0) + 1)
  }
  return uses
}

/** Adds the equalities that a condition implies: `a = b`, `a in (b)`, `(a, b) = (c, d)`, and these joined by AND. */
function tie(level: Level, condition: Node | undefined): void {
  const all = as(condition, 'BoolExpr')
  if (all?.boolop === 'AND_EXPR') for (const one of all.args ?? []) tie(level, one)
  const { kind, name, lexpr, rexpr } = as(condition, 'A_Expr') ?? {}
  if (nameOf(name) !== '=') return
  if (kind === 'AEXPR_OP') {
    const [left, right] = [lexpr, rexpr].map((side) => as(side, 'RowExpr')?.args ?? [side])
    left?.forEach((one, index) => tieTerms(level, one, right?.[index]))
  }
  const listed =
    kind === 'AEXPR_IN' ? as(rexpr, 'List')?.items : kind === 'AEXPR_OP_ANY' ? as(rexpr, 'A_ArrayExpr')?.elements : undefined
  if (listed?.length === 1) tieTerms(level, lexpr, listed[0])
}

function tieTerms(level: Level, one: Node | undefined, other: Node | undefined): void {
  const [left, right] = [termOf(level, one), termOf(level, other)]
  if (left && right) level.ties.add(left, right)
}

function termOf(level: Level, expression: Node | undefined): string | undefined {
  const cast = as(expression, 'TypeCast')
  if (cast) return termOf(level, cast.arg)
  const reference = as(expression, 'ColumnRef')
  if (reference) {
    const found = resolve(level, reference.fields)
    return found && column(found.entry, found.name)
  }
  const isConstant = findAll(expression, (node) => 'ColumnRef' in node || 'SubLink' in node).length === 0
  return isConstant
    ? `=${JSON.stringify(expression, (name, value: unknown) => (name === 'location' ? undefined : value))}`
    : undefined
}
