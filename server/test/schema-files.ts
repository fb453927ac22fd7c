/**
 * Generates two files from a migrated database: `server/src/db/schema.sql` for readers, and `server/src/db/tables.ts`, the types for
 * Kysely. `node server/test/write-schema.ts` writes both; schema-files.test.ts compares them with a migrated database.
 */
import { columnTypeOverrides, overrideImports } from './column-type-overrides.ts'

type Query = <Row>(text: string) => Promise<Row[]>

interface Schema {
  extensions: string[]
  /** Names of collations, which each server makes from what it offers. */
  collations: string[]
  /** Definitions of functions. */
  functions: string[]
  /** Sequences that belong to no column. */
  sequences: string[]
  views: { name: string; definition: string; comment: string | null }[]
  tables: Table[]
}

interface Table {
  name: string
  comment: string | null
  options: string | null
  columns: Column[]
  constraints: Definition[]
  /** Definitions of indexes that belong to no constraint. */
  indexes: string[]
  triggers: string[]
}

interface Column {
  name: string
  /** As SQL writes it, such as `timestamp with time zone`. */
  type: string
  isNullable: boolean
  /** The expression of a default or of a generated column. */
  expression: string | null
  /** Whether `expression` is that of a generated column. */
  isGenerated: boolean
  /** `ALWAYS` or `BY DEFAULT`; null if the column is not an identity column. */
  identity: string | null
  /** The collation if it is not the type's default. */
  collation: string | null
  comment: string | null
}

interface Definition {
  name: string
  definition: string
}

/** Returns the generated files with their texts. */
export function schemaFiles(schema: Schema): { file: URL; text: string }[] {
  return [
    { file: new URL('../src/db/schema.sql', import.meta.url), text: schemaSql(schema) },
    { file: new URL('../src/db/tables.ts', import.meta.url), text: tablesSource(schema) },
  ]
}

/** Reads the catalogs of a migrated database; each list is in a stable order. */
export async function readSchema(query: Query): Promise<Schema> {
  const [schema] = await query<Schema>(`
    select coalesce((select json_agg(extname order by extname) from pg_extension where extname <> 'plpgsql'), '[]') as extensions,
           coalesce((select json_agg(collname order by collname) from pg_collation
              where collnamespace = 'public'::regnamespace), '[]') as collations,
           coalesce((select json_agg(pg_get_functiondef(p.oid) order by p.oid::regprocedure::text collate "C") from pg_proc p
              where pronamespace = 'public'::regnamespace and ${notOfExtension('pg_proc', 'p.oid')}), '[]') as functions,
           coalesce((select json_agg(relname order by relname) from pg_class c
              where relnamespace = 'public'::regnamespace and relkind = 'S'
                and not exists (select from pg_depend d where d.objid = c.oid and d.deptype in ('a', 'i'))), '[]') as sequences,
           coalesce((select json_agg(json_build_object('name', relname, 'definition', pg_get_viewdef(oid),
                'comment', obj_description(oid, 'pg_class')) order by relname) from pg_class c
              where relnamespace = 'public'::regnamespace and relkind in ('v', 'm')
                and ${notOfExtension('pg_class', 'c.oid')}), '[]') as views,
           (select json_agg(json_build_object('name', relname, 'comment', obj_description(c.oid, 'pg_class'),
                'options', array_to_string(reloptions, ', '), 'columns', (${COLUMNS}), 'constraints', (${CONSTRAINTS}),
                'indexes', (${INDEXES}), 'triggers', (${TRIGGERS})) order by relname) from pg_class c
              where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
                and ${notOfExtension('pg_class', 'c.oid')}) as tables`)
  return schema!
}

function notOfExtension(catalog: string, oid: string): string {
  return `not exists (select from pg_depend where classid = '${catalog}'::regclass and objid = ${oid} and deptype = 'e')`
}

const COLUMNS = `
  select json_agg(json_build_object('name', attname, 'type', format_type(atttypid, atttypmod), 'isNullable', not attnotnull,
      'expression', pg_get_expr(adbin, adrelid), 'isGenerated', attgenerated <> '',
      'identity', case attidentity when 'a' then 'ALWAYS' when 'd' then 'BY DEFAULT' end,
      'collation', case when attcollation <> typcollation then attcollation::regcollation::text end,
      'comment', col_description(attrelid, attnum)) order by attnum)
    from pg_attribute a join pg_type t on t.oid = atttypid left join pg_attrdef on adrelid = attrelid and adnum = attnum
   where attrelid = c.oid and attnum > 0 and not attisdropped`
// PostgreSQL 18 also lists `not null` as a constraint. It is left out here because the columns show it.
const CONSTRAINTS = `
  select coalesce(json_agg(json_build_object('name', conname, 'definition', pg_get_constraintdef(oid))
      order by contype <> 'p', conname), '[]')
    from pg_constraint where conrelid = c.oid and contype not in ('n', 't')`
const INDEXES = `
  select coalesce(json_agg(pg_get_indexdef(indexrelid) order by indexrelid::regclass::text), '[]')
    from pg_index where indrelid = c.oid
     and not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u', 'x'))`
const TRIGGERS = `
  select coalesce(json_agg(pg_get_triggerdef(oid) order by tgname), '[]')
    from pg_trigger where tgrelid = c.oid and not tgisinternal`

/** The text of `server/src/db/schema.sql`. */
function schemaSql({ extensions, collations, functions, sequences, views, tables }: Schema): string {
  const parts = [
    `-- The schema that all migrations together create. This file is for reading only: the server runs the migrations.\n` +
      `-- \`node server/test/write-schema.ts\` generates it; do not edit it. Comments come from the database, too.`,
    ...extensions.map((name) => `CREATE EXTENSION ${name};`),
    ...collations.map((name) => `-- The collation ${name}: server/src/db/collations.ts makes it from what the server offers.`),
    ...functions.map((definition) => `${definition.trimEnd()};`),
    ...sequences.map((name) => `CREATE SEQUENCE ${name};`),
    ...tables.map(tableSql),
    ...views.map(({ name, definition, comment }) => `${commentLines(comment, '')}CREATE VIEW ${name} AS\n${definition}`),
  ]
  return `${parts.join('\n\n')}\n`
}

function tableSql({ name, comment, options, columns, constraints, indexes, triggers }: Table): string {
  const lines = [
    ...columns.map((column) => ({ text: columnSql(column), comment: column.comment })),
    ...constraints.map((one) => ({ text: `CONSTRAINT ${one.name} ${one.definition}`, comment: null })),
  ]
  const body = lines.map(
    (line, index) => `${commentLines(line.comment, '  ')}  ${line.text}${index === lines.length - 1 ? '' : ','}\n`,
  )
  const storage = options === null ? '' : ` WITH (${options})`
  return [
    `${commentLines(comment, '')}CREATE TABLE ${name} (\n${body.join('')})${storage};`,
    ...[...indexes, ...triggers].map((definition) => `${definition.replaceAll('public.', '')};`),
  ].join('\n')
}

function columnSql({ name, type, isNullable, expression, isGenerated, identity, collation }: Column): string {
  const value = isGenerated ? `GENERATED ALWAYS AS (${expression}) STORED` : `DEFAULT ${expression}`
  return [
    `${name} ${type}`,
    ...(collation === null ? [] : [`COLLATE ${collation}`]),
    ...(isNullable ? [] : ['NOT NULL']),
    ...(identity === null ? [] : [`GENERATED ${identity} AS IDENTITY`]),
    ...(expression === null ? [] : [value]),
  ].join(' ')
}

function commentLines(comment: string | null, indent: string): string {
  return comment === null ? '' : `${indent}-- ${comment}\n`
}

/** The text of `server/src/db/tables.ts`, formatted as oxfmt does it. */
function tablesSource({ tables }: Schema): string {
  const names = tables.map(({ name }) => `  ${name}: ${typeName(name)}\n`)
  return `/**
 * The tables as Kysely sees them. \`node server/test/write-schema.ts\` generates this file from the migrated database.
 * Do not edit it. Comments come from the migrations, types that PostgreSQL does not know from
 * server/test/column-type-overrides.ts.
 */
import type { ColumnType } from 'kysely'
${overrideImports.join('\n')}

/** A column with a default, which an INSERT may leave out. */
type Generated<T> =
  T extends ColumnType<infer S, infer I, infer U> ? ColumnType<S, I | undefined, U> : ColumnType<T, T | undefined, T>
/** A \`numeric\` column: exact in the database; the driver parses it to a number. */
type Decimal = ColumnType<number, number | string, number | string>
type Timestamp = ColumnType<Date, Date | string, Date | string>

export interface Tables {
${names.join('')}}
${tables.map(tableSource).join('')}`
}

function tableSource({ name, comment, columns }: Table): string {
  const lines = columns.map((column) => `${docComment(column.comment, '  ')}  ${column.name}: ${columnType(name, column)}\n`)
  return `\n${docComment(comment, '')}export interface ${typeName(name)} {\n${lines.join('')}}\n`
}

function docComment(comment: string | null, indent: string): string {
  return comment === null ? '' : `${indent}/** ${comment} */\n`
}

/** The name of a table's type: `bot_tokens` has `BotTokensTable`. */
function typeName(table: string): string {
  return `${table.replaceAll(/(?:^|_)(\w)/g, (_match, letter: string) => letter.toUpperCase())}Table`
}

function columnType(table: string, column: Column): string {
  const type = columnTypeOverrides[`${table}.${column.name}`] ?? typesOfSql[column.type]
  if (type === undefined) throw new Error(`typesOfSql has no type for ${table}.${column.name}, which is ${column.type}`)
  if (column.isGenerated || column.identity === 'ALWAYS') return `ColumnType<${type}, never, never>`
  const nullable = column.isNullable && type !== 'unknown' ? `${type} | null` : type
  return column.expression !== null || column.identity !== null ? `Generated<${nullable}>` : nullable
}

/** The TypeScript types of the values that the driver returns (server/src/postgres/connections.ts sets its parsers). */
const typesOfSql: Readonly<Record<string, string>> = {
  bigint: 'number',
  boolean: 'boolean',
  bytea: 'Buffer',
  date: 'Timestamp',
  integer: 'number',
  json: 'unknown',
  jsonb: 'unknown',
  numeric: 'Decimal',
  smallint: 'number',
  text: 'string',
  'text[]': 'string[]',
  'timestamp with time zone': 'Timestamp',
  uuid: 'string',
}
