/** Parses SQL with PostgreSQL's own parser (libpg-query), and finds nodes in the parse tree. */
import { loadModule, type Node, type ParseResult, parseSync } from 'libpg-query'

/** The distribution column: the tables of players are distributed by it. */
export const PLAYER = 'user_id'

type Kinds<N> = N extends unknown ? keyof N : never
type Fields<K extends string> = Extract<Node, Record<K, unknown>> extends Record<K, infer F> ? F : never
const STATEMENTS = ['SelectStmt', 'UpdateStmt', 'DeleteStmt', 'InsertStmt', 'MergeStmt'] as const
export type Statement = { [K in (typeof STATEMENTS)[number]]: { kind: K; fields: Fields<K> } }[(typeof STATEMENTS)[number]]

/** Returns the fields of a node if it is of this kind. */
export function as<K extends Kinds<Node>>(node: Node | undefined, kind: K): Fields<K> | undefined {
  return node && kind in node ? (node as unknown as Record<K, Fields<K>>)[kind] : undefined
}

await loadModule()

/** @throws Error with PostgreSQL's message if the text is not valid SQL */
export function parseStatements(text: string): Node[] {
  return ((parseSync(text) as ParseResult).stmts ?? []).flatMap(({ stmt }) => stmt ?? [])
}

export function statementOf(node: Node): Statement | undefined {
  for (const kind of STATEMENTS) if (kind in node) return { kind, fields: as(node, kind) } as Statement
  return undefined
}

/** Finds all nodes in a part of a tree that match. Looks for more matches inside a match only if `isDeep`. */
export function findAll(part: unknown, matches: (node: Node) => boolean, { isDeep = true } = {}): Node[] {
  if (Array.isArray(part)) return part.flatMap((one) => findAll(one, matches, { isDeep }))
  if (typeof part !== 'object' || part === null) return []
  const isMatch = matches(part as Node)
  const within = isMatch && !isDeep ? [] : Object.values(part).flatMap((one) => findAll(one, matches, { isDeep }))
  return isMatch ? [part as Node, ...within] : within
}

/** Finds all nodes of this kind in an expression, but not inside its subqueries. */
export function inExpression<K extends Kinds<Node>>(part: unknown, kind: K): Fields<K>[] {
  return findAll(part, (node) => kind in node || 'SubLink' in node, { isDeep: false }).flatMap((node) => {
    const found = as(node, kind)
    if (found === undefined) return []
    return [found, ...inExpression(found, kind)]
  })
}

export function nameOf(names: readonly Node[] | undefined): string {
  return as(names?.at(-1), 'String')?.sval ?? ''
}
