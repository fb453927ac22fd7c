/** Reads how many rows a plan of PostgreSQL expects. */

/** The row of `explain (format json)`. */
export interface Explained {
  'QUERY PLAN': [{ Plan: PlanStep }]
}

interface PlanStep {
  'Node Type': string
  'Plan Rows': number
  Plans?: PlanStep[]
}

/** Returns the most rows of any step of the plan. On a Citus cluster it is 0, because the plan does not show what the workers read. */
export function mostRowsIn({ 'QUERY PLAN': [{ Plan }] }: Explained): number {
  return mostRowsOf(Plan)
}

function mostRowsOf({ 'Node Type': type, 'Plan Rows': rows, Plans: steps = [] }: PlanStep): number {
  return type === 'Custom Scan' ? 0 : Math.max(rows, ...steps.map(mostRowsOf))
}
