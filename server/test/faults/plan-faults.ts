/** What in a plan of PostgreSQL takes longer the more players, participations and audit entries there are. */

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
}

const LARGE_TABLES = ['telegram_users', 'balances', 'ledger_entries', 'participations', 'player_keys', 'audit_entries']
/** Steps that hand on rows as they come, so that a limit above ends those below. */
const passesOn = /^(Limit|Append|Merge Append|Subquery Scan|Result)$/

/** To read all of a table takes hardly longer than to look so large a part of its rows up, one by one. */
const MOST_OF_A_TABLE = 0.25

/** @param manyRows no step may sort or count so many rows, by PostgreSQL's estimate */
export function planFaults(plan: PlanNode, { manyRows }: { manyRows: number }): Fault[] {
  const faults: Fault[] = []
  /**
   * @param isLimited a limit ends what this step gives
   * @param wanted how many rows the limit above wants
   */
  const visit = (node: PlanNode, isLimited: boolean, wanted: number): void => {
    const type = node['Node Type']
    const table = node['Relation Name'] ?? ''
    const isWhole = type === 'Seq Scan' || (/^Index (Only )?Scan$/.test(type) && node['Index Cond'] === undefined)
    // With a filter it goes on until enough rows match.
    const isBounded = node.Filter === undefined && (isLimited || wanted >= node['Plan Rows'] * MOST_OF_A_TABLE)
    if (LARGE_TABLES.includes(table) && isWhole && !isBounded)
      faults.push({ does: 'reads', what: `${table}${node['Index Name'] ? ` along ${node['Index Name']}` : ''}` })
    const most = Math.max(0, ...(node.Plans ?? []).map((one) => one['Plan Rows']))
    if (most >= manyRows && /^Sort$/.test(type)) faults.push({ does: 'sorts', what: `${most} rows` })
    if (most >= manyRows && /Aggregate$|^Group$|^WindowAgg$/.test(type)) faults.push({ does: 'counts', what: `${most} rows` })
    const isPassedOn = passesOn.test(type) && node.Filter === undefined
    // A nested loop asks its first child for as many rows as it has to give.
    const passesOnTo = (index: number): boolean => isPassedOn || (type === 'Nested Loop' && index === 0)
    const wantedBelow = type === 'Limit' ? node['Plan Rows'] : wanted
    for (const [index, child] of (node.Plans ?? []).entries())
      visit(child, type === 'Limit' || (isLimited && passesOnTo(index)), wantedBelow)
  }
  visit(plan, false, 0)
  return faults
}
