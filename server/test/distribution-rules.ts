/**
 * Finds statements on distributed tables that Citus refuses (docs/scaling.md), from their parse tree. setup.ts checks every statement
 * that the tests send, so that one which works only on an ordinary PostgreSQL is found without a cluster.
 */
import type { Node } from 'libpg-query'
import { inject } from 'vitest'
import { DISTRIBUTED_TABLES } from '#src/postgres/citus.ts'
import { definitionRules } from './distribution-definitions.ts'
import { column, type Entry, isSimple, isSpread, type Level, levelsOf } from './statement-levels.ts'
import { as, findAll, inExpression, nameOf, parseStatements, PLAYER, statementOf } from './statement-tree.ts'

interface Rule {
  what: string
  breaks: (level: Level) => boolean
}

const rules: Rule[] = [
  {
    what: 'locks rows of many players (FOR UPDATE or SHARE)',
    breaks: (level) => select(level)?.lockingClause !== undefined && level.entries.some(isMany(level)),
  },
  {
    what: 'joins distributed tables by another column than user_id',
    breaks: ({ entries, ties }) => {
      const keys = entries
        .filter(({ kind, isSpread: isOnShards }) => kind === 'distributed' && isOnShards)
        .map((entry) => column(entry, PLAYER))
      return keys.some((key) => !ties.of(key).has(keys[0]!))
    },
  },
  {
    what: 'has a correlated subquery of a distributed table that is not tied by user_id',
    breaks: (level) =>
      level.asks.length > 0 && isSubquery(level) && !isJoined(level) && level.read.some((one) => isUntied(level, one)),
  },
  {
    what: 'has a correlated subquery of a local table for rows of a distributed one',
    breaks: (level) =>
      isSubquery(level) &&
      level.read.some(({ entry }) => entry.kind === 'local') &&
      around(level).some(
        (entry) => entry.isSpread && (entry.kind === 'distributed' || (entry.source?.role === 'from' && isSimple(entry.source))),
      ),
  },
  {
    what: 'is recursive and reads rows of many players',
    breaks: (level) => level.statement.fields.withClause?.recursive === true && within(level).some(readsMany),
  },
  {
    what: 'groups rows of many players by GROUPING SETS, CUBE or ROLLUP',
    breaks: (level) => {
      const groups = select(level)?.groupClause?.some((group) => 'GroupingSet' in group) ?? false
      return groups && level.entries.some(isMany(level))
    },
  },
  {
    what: 'has a subquery in LIMIT or OFFSET of rows of many players',
    breaks: (level) => hasSubquery([select(level)?.limitCount, select(level)?.limitOffset]) && level.entries.some(isMany(level)),
  },
  {
    what: 'has a correlated subquery in HAVING',
    breaks: (level) => {
      const links = findAll(select(level)?.havingClause, (node) => 'SubLink' in node).map(
        (node) => as(node, 'SubLink')?.subselect,
      )
      const asking = level.inner.filter(
        ({ asks, statement }) => asks.length > 0 && links.some((link) => link && statementOf(link)?.fields === statement.fields),
      )
      return asking.length > 0 && within(level).some(readsMany)
    },
  },
  {
    what: 'selects no column in EXISTS',
    breaks: (level) =>
      level.role === 'exists' &&
      level.asks.length === 0 &&
      select(level)?.op === 'SETOP_NONE' &&
      !select(level)?.targetList &&
      level.entries.some((entry) => entry.isSpread) &&
      (level.entries.some(isMany(level)) || (level.parent?.entries.some(({ kind }) => kind === 'local') ?? false)),
  },
  {
    what: 'changes a local table by a subquery of distributed ones that Citus does not gather on the coordinator',
    breaks: (level) =>
      isChange(level) &&
      level.entries[0]?.kind === 'local' &&
      level.entries.some(({ source }) => source !== undefined && source.role !== 'with' && isSpread(source)),
  },
  {
    what: 'inserts VALUES into a local table and changes a distributed one in WITH',
    breaks: (level) =>
      level.statement.kind === 'InsertStmt' &&
      level.entries[0]?.kind === 'local' &&
      values(level) !== undefined &&
      level.inner.some(
        (one) => one.role === 'with' && one.statement.kind !== 'SelectStmt' && one.entries[0]?.kind === 'distributed',
      ),
  },
  {
    what: 'has a subquery among inserted VALUES',
    breaks: (level) => {
      const { statement } = level
      if (statement.kind !== 'InsertStmt' || values(level) === undefined) return false
      const { returningList, onConflictClause } = statement.fields
      return hasSubquery([values(level), returningList, onConflictClause]) && readsDistributed(level)
    },
  },
  {
    what: 'inserts rows without user_id',
    breaks: ({ statement, entries }) => {
      if (statement.kind !== 'InsertStmt' || entries[0]?.kind !== 'distributed') return false
      const { cols, selectStmt } = statement.fields
      const source = as(selectStmt, 'SelectStmt')
      if (!source) return true
      const at = cols?.findIndex((one) => as(one, 'ResTarget')?.name === PLAYER) ?? 0
      const rows = source.valuesLists?.map((row) => as(row, 'List')?.items?.[at]) ?? [
        as(source.targetList?.[at], 'ResTarget')?.val,
      ]
      return at < 0 || rows.some((value) => as(value, 'A_Const')?.isnull === true)
    },
  },
  {
    what: 'has an ON CONFLICT target without user_id',
    breaks: ({ statement, entries }) => {
      const columns = statement.kind === 'InsertStmt' ? statement.fields.onConflictClause?.infer?.indexElems : undefined
      return (
        entries[0]?.kind === 'distributed' &&
        columns !== undefined &&
        !columns.some((one) => as(one, 'IndexElem')?.name === PLAYER)
      )
    },
  },
  {
    what: 'changes the user_id of a row',
    breaks: ({ statement, entries }) => {
      const { kind, fields } = statement
      const changed =
        kind === 'UpdateStmt' ? fields.targetList : kind === 'InsertStmt' ? fields.onConflictClause?.targetList : undefined
      const isMoved = (node: Node): boolean => {
        const { name, val } = as(node, 'ResTarget') ?? {}
        return name === PLAYER && nameOf(as(val, 'ColumnRef')?.fields) !== PLAYER
      }
      return entries[0]?.kind === 'distributed' && (changed?.some(isMoved) ?? false)
    },
  },
  {
    what: 'changes rows by a volatile function',
    breaks: (level) =>
      isChange(level) && readsDistributed(level) && calls(changesOf(level), inject('testServer').catalog.volatile),
  },
  {
    what: 'computes a value that depends on the session, such as a timestamp as text, from a changed row',
    breaks: (level) => isChange(level) && readsDistributed(level) && isChangeable(level, changesOf(level), { isOfRow: true }),
  },
  {
    what: 'has a value that depends on the time or session in RETURNING or ON CONFLICT',
    breaks: (level) => {
      const { kind, fields } = level.statement
      if (kind === 'SelectStmt' || kind === 'MergeStmt' || !readsDistributed(level)) return false
      if (kind !== 'InsertStmt')
        return isChangeable(level, fields.returningList) || (hasQuery(fields.returningList) && level.entries.some(isMany(level)))
      const { targetList, whereClause } = fields.onConflictClause ?? {}
      return (
        level.entries[0]?.kind === 'distributed' &&
        isChangeable(level, [values(level) && fields.returningList, targetList, whereClause])
      )
    },
  },
  {
    what: 'finds rows of many players by ctid, which is unique only within a shard',
    breaks: (level) => {
      const { kind, fields } = level.statement
      if (kind !== 'UpdateStmt' && kind !== 'DeleteStmt') return false
      const isByPlace = inExpression(fields.whereClause, 'ColumnRef').some((one) => nameOf(one.fields) === 'ctid')
      const isInTest =
        findAll(fields.whereClause, (node) => nameOf(as(as(node, 'SubLink')?.testexpr, 'ColumnRef')?.fields) === 'ctid').length >
        0
      return (isByPlace || isInTest) && level.entries[0] !== undefined && isMany(level)(level.entries[0])
    },
  },
  {
    what: 'changes the current row of a cursor',
    breaks: (level) =>
      isChange(level) &&
      level.entries[0]?.kind === 'distributed' &&
      findAll(level.statement.fields, (node) => 'CurrentOfExpr' in node).length > 0,
  },
  {
    what: 'merges tables that are not colocated (MERGE)',
    breaks: (level) => {
      const [target, source] = level.entries
      if (level.statement.kind !== 'MergeStmt' || !target || !source) return false
      if (target.kind !== 'distributed')
        return within(level).some(({ entries }) => entries.some(({ kind }) => kind === 'distributed'))
      const tied = level.ties.of(column(target, PLAYER))
      return !source.isSpread || !source.keys.some((key) => tied.has(column(source, key)))
    },
  },
]

/** The descriptions of all rules. */
export const distributionRules = [...rules, ...definitionRules].map(({ what }) => what)

const isOnPlayers = new RegExp(`\\b(${DISTRIBUTED_TABLES.join('|')})\\b`, 'i')
const known = new Map<string, string[]>()

/** Returns a description for each rule that the statement breaks. Statements without a distributed table break none. */
export function distributionFaults(statement: string): string[] {
  let faults = known.get(statement)
  if (!faults) known.set(statement, (faults = isOnPlayers.test(statement) ? faultsOf(statement) : []))
  return faults
}

function faultsOf(statement: string): string[] {
  const shown = statement.replaceAll(/\s+/g, ' ').trim()
  let nodes: Node[]
  try {
    nodes = parseStatements(statement)
  } catch (error) {
    return [`cannot be read (${(error as Error).message}): ${shown}`]
  }
  const levels = nodes.flatMap(levelsOf)
  const broken = [
    ...rules.filter(({ breaks }) => levels.some(breaks)),
    ...definitionRules.filter(({ breaks }) => nodes.some(breaks)),
  ]
  return broken.map(({ what }) => `${what}: ${shown}`)
}

function select({ statement }: Level) {
  return statement.kind === 'SelectStmt' ? statement.fields : undefined
}

/** Returns the inserted rows of VALUES. Undefined if the statement inserts no VALUES; an empty array for DEFAULT VALUES. */
function values({ statement }: Level): Node[] | undefined {
  if (statement.kind !== 'InsertStmt') return undefined
  return statement.fields.selectStmt ? as(statement.fields.selectStmt, 'SelectStmt')?.valuesLists : []
}

function isChange({ statement: { kind } }: Level): boolean {
  return kind === 'UpdateStmt' || kind === 'DeleteStmt'
}

function isSubquery({ role }: Level): boolean {
  return role === 'expression' || role === 'exists' || role === 'lateral'
}

/** Returns the SET list and the WHERE clause of an UPDATE or DELETE. */
function changesOf({ statement: { kind, fields } }: Level): unknown {
  if (kind === 'UpdateStmt') return [fields.targetList, fields.whereClause]
  return kind === 'DeleteStmt' ? fields.whereClause : undefined
}

/** Returns a level and all levels inside it. */
function within(level: Level): Level[] {
  return [level, ...level.inner.flatMap(within)]
}

function readsMany(level: Level): boolean {
  return level.entries.some((entry) => entry.kind === 'distributed' && isMany(level)(entry))
}

function readsDistributed(level: Level): boolean {
  const inner = level.inner.filter(({ role }) => role !== 'with')
  return level.entries.some(({ kind }) => kind === 'distributed') || inner.some(readsDistributed)
}

/** Whether an entry may have rows of several players, as far as the conditions of its level tell. */
function isMany({ ties }: Level): (entry: Entry) => boolean {
  return (entry) => {
    if (!entry.isSpread || entry.source?.role === 'with') return false
    if (entry.keys.some((key) => ties.constant(column(entry, key)))) return false
    return entry.source ? entry.source.entries.some(isMany(entry.source)) : true
  }
}

/** Whether Citus executes a LATERAL subquery as a join with rows that are on the coordinator. */
function isJoined(level: Level): boolean {
  if (level.role !== 'lateral') return false
  const isOfRow = level.asks.every(({ entry }) => entry.isRow)
  return isOfRow || (isSimple(level) && level.isOptional !== true && !around(level).some((entry) => entry.isSpread))
}

/** Returns all entries of the outer levels that a correlated subquery refers to. */
function around(level: Level): Entry[] {
  return level.asks.flatMap((ask) => ask.level.entries).filter(({ source }) => source !== level)
}

function isUntied(level: Level, { entry, ties }: Level['read'][number]): boolean {
  if (entry.kind !== 'distributed') return false
  const tied = ties.of(column(entry, PLAYER))
  if (around(level).some((one) => one.isSpread && one.keys.some((key) => tied.has(column(one, key))))) return false
  const isOnePlayer = ties.constant(column(entry, PLAYER)) !== undefined
  return !isOnePlayer || around(level).some((one) => one.kind === 'local' || one.isSpread)
}

function hasSubquery(part: unknown): boolean {
  return findAll(part, (node) => 'SubLink' in node).length > 0
}

/** Whether it has a subquery with a FROM clause. */
function hasQuery(part: unknown): boolean {
  return findAll(part, (node) => as(as(node, 'SubLink')?.subselect, 'SelectStmt')?.fromClause !== undefined).length > 0
}

function calls(part: unknown, functions: readonly string[]): boolean {
  return inExpression(part, 'FuncCall').some(({ funcname }) => functions.includes(nameOf(funcname)))
}

/** Whether an expression's value may depend on the time or the session: a call of a clock, or a timestamp converted to text. */
function isChangeable({ entries }: Level, part: unknown, { isOfRow = false } = {}): boolean {
  const { changeable, changeableOfTimestamps, columns } = inject('testServer').catalog
  const isTimestamp = (node: Node): boolean => {
    const [name = '', table] = (as(node, 'ColumnRef')?.fields ?? []).map((one) => nameOf([one])).toReversed()
    const tables = entries.filter((entry) => table === undefined || entry.name === table)
    return tables.some((entry) => columns[entry.table ?? '']?.[name] === 'timestamptz')
  }
  return (
    inExpression(part, 'FuncCall').some(
      ({ funcname, args }) => changeable.includes(nameOf(funcname)) && (!isOfRow || inExpression(args, 'ColumnRef').length > 0),
    ) ||
    (!isOfRow && inExpression(part, 'SQLValueFunction').length > 0) ||
    inExpression(part, 'TypeCast').some(
      ({ arg, typeName }) => arg && isTimestamp(arg) && nameOf(typeName?.names) !== 'timestamptz',
    ) ||
    inExpression(part, 'FuncCall').some(
      ({ funcname, args }) => changeableOfTimestamps.includes(`${nameOf(funcname)}/${args?.length}`) && args?.some(isTimestamp),
    )
  )
}
