/** Finds the steps of a PostgreSQL query plan that take longer as the number of players, participations and audit entries grows. */

/** A step of `EXPLAIN (FORMAT JSON)`. */
export interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Index Cond'?: string
  Filter?: string
  'Plan Rows': number
  Plans?: PlanNode[]
}

export interface Fault {
  does: 'reads' | 'sorts' | 'counts'
  what: string
  /** The number of rows that the step passes on, by PostgreSQL's estimate. */
  matching: number
}

const LARGE_TABLES = ['telegram_users', 'balances', 'ledger_entries', 'participations', 'player_keys', 'audit_entries']
/** Partial indexes that list few rows, however many the table has: players who are blocked (features/players/blocks.ts). */
const SHORT_INDEXES = ['balances_blocked']
/** Steps that pass rows on one by one: a limit above them also stops the steps below them. */
const passesOn = /^(Limit|Append|Merge Append|Subquery Scan|Result)$/

/** From this share of a table's rows on, reading the whole table takes no longer than looking the rows up one by one. */
const MAX_TABLE_SHARE = 0.25

/**
 * Returns the steps that read a whole large table, or sort or count many rows.
 * @param manyRows the number of rows, by PostgreSQL's estimate, from which sorting or counting is a fault
 */
export function planFaults(plan: PlanNode, { manyRows }: { manyRows: number }): Fault[] {
  const faults: Fault[] = []
  /**
   * @param isLimited whether a LIMIT above stops this step
   * @param wanted the number of rows of that LIMIT
   */
  const visit = (node: PlanNode, isLimited: boolean, wanted: number): void => {
    const type = node['Node Type']
    const matching = node['Plan Rows']
    const table = node['Relation Name'] ?? ''
    const isWhole = type === 'Seq Scan' || (/^Index (Only )?Scan$/.test(type) && node['Index Cond'] === undefined)
    // With a filter, the step reads on until enough rows match, so the limit does not bound it.
    const isBounded = node.Filter === undefined && (isLimited || wanted >= node['Plan Rows'] * MAX_TABLE_SHARE)
    const isShort = SHORT_INDEXES.includes(node['Index Name'] ?? '')
    if (LARGE_TABLES.includes(table) && isWhole && !isBounded && !isShort)
      faults.push({ does: 'reads', what: `${table}${node['Index Name'] ? ` along ${node['Index Name']}` : ''}`, matching })
    const most = Math.max(0, ...(node.Plans ?? []).map((one) => one['Plan Rows']))
    if (most >= manyRows && /^Sort$/.test(type)) faults.push({ does: 'sorts', what: `${most} rows`, matching })
    if (most >= manyRows && /Aggregate$|^Group$|^WindowAgg$/.test(type))
      faults.push({ does: 'counts', what: `${most} rows`, matching })
    const isPassedOn = passesOn.test(type) && node.Filter === undefined
    // A nested loop reads its first child only as far as its own rows are wanted.
    const passesOnTo = (index: number): boolean => isPassedOn || (type === 'Nested Loop' && index === 0)
    const wantedBelow = type === 'Limit' ? node['Plan Rows'] : wanted
    for (const [index, child] of (node.Plans ?? []).entries())
      visit(child, type === 'Limit' || (isLimited && passesOnTo(index)), wantedBelow)
  }
  visit(plan, false, 0)
  return faults
}
