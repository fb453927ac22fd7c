/** Finds statements in which the locale of the database tells what capitals are (ADR 25). setup.ts checks every statement that tests send. */
import type { Node } from 'libpg-query'
import { as, findAll, nameOf, parseStatements, statementOf } from './statement-tree.ts'

const OF_LETTERS = new Set(['lower', 'upper', 'initcap', 'casefold'])
const WITHOUT_CASE = new Set(['~*', '!~*', '~~*', '!~~*'])
const known = new Map<string, string[]>()

export function collationFaults(text: string): string[] {
  if (!/\b(lower|upper|initcap|casefold|ilike)\b|~\*/i.test(text)) return []
  let faults = known.get(text)
  if (!faults) {
    // Migrations that were released keep their indexes; later ones replace them.
    const statements = parseStatements(text).filter((node) => statementOf(node) !== undefined)
    const isFaulty = findAll(statements, (node) => isUnpinned(node) || isWithoutCase(node)).length > 0
    known.set(text, (faults = isFaulty ? [text] : []))
  }
  return faults
}

function isUnpinned(node: Node): boolean {
  const call = as(node, 'FuncCall')
  return call !== undefined && OF_LETTERS.has(nameOf(call.funcname)) && !call.args?.some((one) => 'CollateClause' in one)
}

function isWithoutCase(node: Node): boolean {
  return WITHOUT_CASE.has(nameOf(as(node, 'A_Expr')?.name))
}
