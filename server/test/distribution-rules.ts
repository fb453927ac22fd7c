/**
 * What Citus refuses of statements on divided tables (docs/scaling.md), told from their parse tree: the tests look at every statement that
 * is sent, so that one which is valid on an ordinary PostgreSQL alone is found without a cluster. What it takes is not named.
 */
import type { Node } from 'libpg-query'
import { inject } from 'vitest'
import { DISTRIBUTED_TABLES } from '#src/cli/distribution.ts'
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
    what: 'joins divided tables otherwise than by player',
    breaks: ({ entries, ties }) => {
      const keys = entries
        .filter(({ kind, isSpread: isOnShards }) => kind === 'divided' && isOnShards)
        .map((entry) => column(entry, PLAYER))
      return keys.some((key) => !ties.of(key).has(keys[0]!))
    },
  },
  {
    what: 'asks a divided table for each row of something else than its player',
    breaks: (level) =>
      level.asks.length > 0 && isSubquery(level) && !isJoined(level) && level.read.some((one) => isUntied(level, one)),
  },
  {
    what: 'asks a local table for each row of players',
    breaks: (level) =>
      isSubquery(level) &&
      level.read.some(({ entry }) => entry.kind === 'local') &&
      around(level).some(
        (entry) => entry.isSpread && (entry.kind === 'divided' || (entry.source?.role === 'from' && isSimple(entry.source))),
      ),
  },
  {
    what: 'is recursive and reads many players',
    breaks: (level) => level.statement.fields.withClause?.recursive === true && within(level).some(readsMany),
  },
  {
    what: 'groups many players by GROUPING SETS, CUBE or ROLLUP',
    breaks: (level) => {
      const groups = select(level)?.groupClause?.some((group) => 'GroupingSet' in group) ?? false
      return groups && level.entries.some(isMany(level))
    },
  },
  {
    what: 'takes as many rows of many players as a subquery says',
    breaks: (level) => hasSubquery([select(level)?.limitCount, select(level)?.limitOffset]) && level.entries.some(isMany(level)),
  },
  {
    what: 'asks in HAVING for something of the group',
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
    what: 'selects no column',
    breaks: (level) =>
      level.role === 'exists' &&
      level.asks.length === 0 &&
      select(level)?.op === 'SETOP_NONE' &&
      !select(level)?.targetList &&
      level.entries.some((entry) => entry.isSpread) &&
      (level.entries.some(isMany(level)) || (level.parent?.entries.some(({ kind }) => kind === 'local') ?? false)),
  },
  {
    what: 'changes a local table by a subquery of divided ones that nothing gathers',
    breaks: (level) =>
      isChange(level) &&
      level.entries[0]?.kind === 'local' &&
      level.entries.some(({ source }) => source !== undefined && source.role !== 'with' && isSpread(source)),
  },
  {
    what: 'puts values into a local table beside changes of divided ones (WITH)',
    breaks: (level) =>
      level.statement.kind === 'InsertStmt' &&
      level.entries[0]?.kind === 'local' &&
      values(level) !== undefined &&
      level.inner.some((one) => one.role === 'with' && one.statement.kind !== 'SelectStmt' && one.entries[0]?.kind === 'divided'),
  },
  {
    what: 'puts what a subquery finds among values',
    breaks: (level) => {
      const { statement } = level
      if (statement.kind !== 'InsertStmt' || values(level) === undefined) return false
      const { returningList, onConflictClause } = statement.fields
      return hasSubquery([values(level), returningList, onConflictClause]) && readsDivided(level)
    },
  },
  {
    what: 'inserts rows of no player',
    breaks: ({ statement, entries }) => {
      if (statement.kind !== 'InsertStmt' || entries[0]?.kind !== 'divided') return false
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
    what: 'looks for a conflict of rows that may be other players’',
    breaks: ({ statement, entries }) => {
      const columns = statement.kind === 'InsertStmt' ? statement.fields.onConflictClause?.infer?.indexElems : undefined
      return (
        entries[0]?.kind === 'divided' && columns !== undefined && !columns.some((one) => as(one, 'IndexElem')?.name === PLAYER)
      )
    },
  },
  {
    what: 'moves a row to another player',
    breaks: ({ statement, entries }) => {
      const { kind, fields } = statement
      const changed =
        kind === 'UpdateStmt' ? fields.targetList : kind === 'InsertStmt' ? fields.onConflictClause?.targetList : undefined
      const isMoved = (node: Node): boolean => {
        const { name, val } = as(node, 'ResTarget') ?? {}
        return name === PLAYER && nameOf(as(val, 'ColumnRef')?.fields) !== PLAYER
      }
      return entries[0]?.kind === 'divided' && (changed?.some(isMoved) ?? false)
    },
  },
  {
    what: 'changes rows by a function that gives something else for each of them',
    breaks: (level) => isChange(level) && readsDivided(level) && calls(changesOf(level), inject('testServer').catalog.volatile),
  },
  {
    what: 'works out what depends on the session, such as a moment as a text, from a row that it changes',
    breaks: (level) => isChange(level) && readsDivided(level) && isChangeable(level, changesOf(level), { isOfRow: true }),
  },
  {
    what: 'gives back, or keeps on a conflict, what depends on the moment or the session',
    breaks: (level) => {
      const { kind, fields } = level.statement
      if (kind === 'SelectStmt' || kind === 'MergeStmt' || !readsDivided(level)) return false
      if (kind !== 'InsertStmt')
        return isChangeable(level, fields.returningList) || (hasQuery(fields.returningList) && level.entries.some(isMany(level)))
      const { targetList, whereClause } = fields.onConflictClause ?? {}
      return (
        level.entries[0]?.kind === 'divided' &&
        isChangeable(level, [values(level) && fields.returningList, targetList, whereClause])
      )
    },
  },
  {
    what: 'finds rows of many players by ctid, of which each shard has its own',
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
    what: 'changes the row of a cursor',
    breaks: (level) =>
      isChange(level) &&
      level.entries[0]?.kind === 'divided' &&
      findAll(level.statement.fields, (node) => 'CurrentOfExpr' in node).length > 0,
  },
  {
    what: 'merges into or from tables that are not divided alike (MERGE)',
    breaks: (level) => {
      const [target, source] = level.entries
      if (level.statement.kind !== 'MergeStmt' || !target || !source) return false
      if (target.kind !== 'divided') return within(level).some(({ entries }) => entries.some(({ kind }) => kind === 'divided'))
      const tied = level.ties.of(column(target, PLAYER))
      return !source.isSpread || !source.keys.some((key) => tied.has(column(source, key)))
    },
  },
]

/** What each rule names. */
export const distributionRules = [...rules, ...definitionRules].map(({ what }) => what)

const isOnPlayers = new RegExp(`\\b(${DISTRIBUTED_TABLES.join('|')})\\b`, 'i')
const known = new Map<string, string[]>()

/** Each fault as a sentence; none for a statement without a divided table. */
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

/** The rows of VALUES that are inserted; none are the defaults. */
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

/** What a change sets and where. */
function changesOf({ statement: { kind, fields } }: Level): unknown {
  if (kind === 'UpdateStmt') return [fields.targetList, fields.whereClause]
  return kind === 'DeleteStmt' ? fields.whereClause : undefined
}

/** A level and all within it but what WITH gathers before. */
function within(level: Level): Level[] {
  return [level, ...level.inner.flatMap(within)]
}

function readsMany(level: Level): boolean {
  return level.entries.some((entry) => entry.kind === 'divided' && isMany(level)(entry))
}

function readsDivided(level: Level): boolean {
  const inner = level.inner.filter(({ role }) => role !== 'with')
  return level.entries.some(({ kind }) => kind === 'divided') || inner.some(readsDivided)
}

/** Whether an entry's rows may be several players', by what its level says. */
function isMany({ ties }: Level): (entry: Entry) => boolean {
  return (entry) => {
    if (!entry.isSpread || entry.source?.role === 'with') return false
    if (entry.keys.some((key) => ties.constant(column(entry, key)))) return false
    return entry.source ? entry.source.entries.some(isMany(entry.source)) : true
  }
}

/** Whether a LATERAL is read as a join with what is on the coordinator. */
function isJoined(level: Level): boolean {
  if (level.role !== 'lateral') return false
  const isOfRow = level.asks.every(({ entry }) => entry.isRow)
  return isOfRow || (isSimple(level) && level.isOptional !== true && !around(level).some((entry) => entry.isSpread))
}

/** What is read by the levels around a subquery that it asks. */
function around(level: Level): Entry[] {
  return level.asks.flatMap((ask) => ask.level.entries).filter(({ source }) => source !== level)
}

function isUntied(level: Level, { entry, ties }: Level['read'][number]): boolean {
  if (entry.kind !== 'divided') return false
  const tied = ties.of(column(entry, PLAYER))
  if (around(level).some((one) => one.isSpread && one.keys.some((key) => tied.has(column(one, key))))) return false
  const isOnePlayer = ties.constant(column(entry, PLAYER)) !== undefined
  return !isOnePlayer || around(level).some((one) => one.kind === 'local' || one.isSpread)
}

function hasSubquery(part: unknown): boolean {
  return findAll(part, (node) => 'SubLink' in node).length > 0
}

/** Whether it has a subquery that reads something. */
function hasQuery(part: unknown): boolean {
  return findAll(part, (node) => as(as(node, 'SubLink')?.subselect, 'SelectStmt')?.fromClause !== undefined).length > 0
}

function calls(part: unknown, functions: readonly string[]): boolean {
  return inExpression(part, 'FuncCall').some(({ funcname }) => functions.includes(nameOf(funcname)))
}

/** Whether an expression may give something else in another session or at another moment: a clock, or a moment as a text. */
function isChangeable({ entries }: Level, part: unknown, { isOfRow = false } = {}): boolean {
  const { changeable, changeableOfMoments, columns } = inject('testServer').catalog
  const isMoment = (node: Node): boolean => {
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
      ({ arg, typeName }) => arg && isMoment(arg) && nameOf(typeName?.names) !== 'timestamptz',
    ) ||
    inExpression(part, 'FuncCall').some(
      ({ funcname, args }) => changeableOfMoments.includes(`${nameOf(funcname)}/${args?.length}`) && args?.some(isMoment),
    )
  )
}
