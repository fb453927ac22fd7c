/** Writes the text of docs/performance.md: a table for each area, with the rows of its benches from their last runs. */
import { cpus, loadavg, totalmem } from 'node:os'

/** The answer to one question of a bench, as text. A bench writes one line of JSON for each into the file BENCH_ROWS (bench/measuring.ts). */
export interface Row {
  question: string
  ours: string
  limit?: string
  ratio?: string
  bound?: string
  isMet: boolean
}

export interface Section {
  name: string
  /** When and on which machine the bench ran, and the load there (`describeRun`). */
  ran: string
  rows: readonly Row[]
}

interface Area {
  title: string
  about: string
  /** The benches of the area, in this order, and what each one's questions are about. */
  benches: Readonly<Record<string, string>>
}

const areas: readonly Area[] = [
  {
    title: 'Lists and search',
    about:
      'Ten operators read pages at the same time. There are a million rows, or ten thousand users. Each request asks another question.',
    benches: {
      'players-list': 'players',
      search: 'searching players',
      segments: 'segments',
      users: 'users',
      history: 'a history item',
      audit: 'audit trail',
      dashboard: 'dashboard',
      growth: 'growing tables',
    },
  },
  {
    title: 'The game',
    about: 'The bot claims rewards and adds players, a million of them. A broadcast goes to a million players.',
    benches: { claims: 'game', broadcasts: 'broadcast' },
  },
  {
    title: 'Spreadsheets, imports and backups',
    about:
      'Work on many players that takes seconds: on 300,000 in filling and backups (`--large`: a million), on a million in exports.',
    benches: { export: 'download', spreadsheet: 'writing', filling: 'filling', 'move-in': 'moving in', backup: 'backup' },
  },
  {
    title: 'Pages in the browser',
    about: 'Chromium; *slowed*: on a CPU slowed four times.',
    benches: { 'first-load': 'first load', interaction: 'use' },
  },
  {
    title: 'The server',
    about:
      'How soon a server is ready, what it needs, and how long operators wait while 200 of them work beside imports or claims.',
    benches: {
      start: 'start',
      crash: 'crash',
      'sign-in': 'sign-in',
      operators: 'heavy use',
      attacks: 'attack',
      storage: 'storage',
      cluster: 'Citus cluster',
    },
  },
]

const LINE_CHARACTERS = 130
const HEAD = ['| what | ours | to limit | bound | bench |', '|---|--:|--:|--:|---|']

const opening = `# Performance

\`npm run bench\` writes this document; \`npm run bench NAME\` measures one bench of the last column again. \`--strict\` fails if a
bound is missed, or if all take more than half an hour. \`--large\` measures ten million rows, and heavy use for 15 minutes instead
of one.

- **ours** is the console as in production, on its own PostgreSQL.
- **to limit** compares it with the best possible answer in the same run: the same statement from a bare \`node:http\` server,
  \`COPY\` of the same rows, the same hashes alone, the same elements drawn by React alone, or the same question over fewer rows.
- **bound** is the [budget](design.md#9-budgets), of the ratio or of ours.

Each request asks another question, out of 500 or more, because lists answer equal questions at the same time with one shared read
([ADR 11](decisions/0011-shared-reads.md)); what is shared says so. A row with p99 has two figures in each cell. Of questions of
one kind with one bound the table shows the slowest that meets it and each that misses it; a run prints the rest. Ratios say more
than figures, which depend on the machine and its load.
`

/** What the document says of a bench: when it ran, and its rows of the table. */
interface Measured {
  ran: string
  rows: readonly string[]
}

const LARGE = ' --large'

/** Returns the name under which the document keeps a run with `--large`, whose rows a usual run does not replace. */
export function largeName(name: string): string {
  return name + LARGE
}

/** Returns the document with the rows of this bench replaced. */
export function withSection(document: string, { name, ran, rows }: Section): string {
  const measured = readMeasured(document)
  measured.set(name, { ran, rows: tableRows(name, rows) })
  return `${[opening.trimEnd(), ...areas.flatMap((area) => areaText(area, measured))].join('\n\n')}\n`
}

/** Reads what the document says of each bench, from its tables and the lines under them. */
function readMeasured(document: string): Map<string, Measured> {
  const lines = document.split('\n')
  const runs = Array.from(document.matchAll(/^Measured on ([^]+?)\.\n/gm), ([, text = '']) => text.replaceAll('\n', ' '))
    .flatMap((text) => text.split('; '))
    .flatMap((text) => {
      const [, machine = '', names = ''] = /^(.*?): (.*)$/.exec(text) ?? []
      return Array.from(names.matchAll(/`([a-z-]+(?: --large)?)` (load [\d.]+)/g), ([, name = '', load = '']) => ({
        name,
        ran: `${machine}, ${load}`,
      }))
    })
  return new Map(runs.map(({ name, ran }) => [name, { ran, rows: lines.filter((line) => line.endsWith(`| ${name} |`)) }]))
}

function areaText({ title, about, benches }: Area, measured: ReadonlyMap<string, Measured>): string[] {
  const known = Object.keys(benches)
    .flatMap((name) => [name, largeName(name)])
    .flatMap((name) => {
      const found = measured.get(name)
      return found ? [{ name, ...found }] : []
    })
  if (known.length === 0) return []
  return [
    `## ${title}`,
    wrap(about),
    [...HEAD, ...known.flatMap(({ rows }) => rows)].join('\n'),
    wrap(`Measured on ${runsText(known)}.`),
  ]
}

/** Says when and where the benches ran, those of one day and machine together. */
function runsText(benches: readonly { name: string; ran: string }[]): string {
  const runs = benches.map(({ name, ran }) => ({ name, parts: /^(.*), (load .*)$/.exec(ran) ?? [] }))
  const runsByMachine = Map.groupBy(runs, ({ parts }) => parts[1])
  return Array.from(
    runsByMachine,
    ([machine, names]) => `${machine}: ${names.map(({ name, parts }) => `\`${name}\` ${parts[2]}`).join(', ')}`,
  ).join('; ')
}

function tableRows(name: string, rows: readonly Row[]): string[] {
  const subject = areas.flatMap(({ benches }) => benches[name.replace(LARGE, '')] ?? [])[0]
  if (subject === undefined) throw new Error(`scripts/performance.ts has no area for the bench ${name}`)
  const bounded = rows.filter(({ bound }) => bound !== undefined)
  const shown = bounded.length > 0 ? bounded : rows.filter(({ question }) => !/: (row|index)\b/.test(question))
  return slowestOfEachKind(joinP99(shown)).map(([question, ...figures]) => {
    const cells = [`${subject}: ${question}`, ...figures, name]
    return `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`
  })
}

/** Returns the cells of the rows. A row `question: p99` has no line of its own: its figures stand in the cells of `question` before it. */
function joinP99(rows: readonly Row[]): string[][] {
  const table: string[][] = []
  for (const row of rows) {
    const [question, ...figures] = cellsOf(row)
    const before = table.at(-1)
    if (row.question !== `${before?.[0]}: p99`) table.push([question!, ...figures])
    else
      table[table.length - 1] = [
        before![0]!,
        ...figures.map((figure, n) => `${before![n + 1]}, ${n === 0 ? 'p99 ' : ''}${figure}`),
      ]
  }
  return table
}

/**
 * Of four or more rows of one kind that meet the same upper bound, keeps the slowest. A kind is `kind: …: unit` or `…: unit`. Rows with
 * a ratio all stay.
 */
function slowestOfEachKind(table: readonly string[][]): string[][] {
  const kindOf = ([question = '', , ratio, bound = '']: readonly string[]): string | undefined => {
    const parts = question.split(': ')
    const isComparable = parts.length > 1 && ratio === '–' && bound.startsWith('≤') && !bound.includes('missed')
    return isComparable ? JSON.stringify([parts.length > 2 && parts[0], parts.at(-1), bound]) : undefined
  }
  const kinds = Map.groupBy(table, kindOf)
  const shown = (row: string[]): string[][] => {
    const kind = kindOf(row)
    const rows = kind === undefined ? [row] : kinds.get(kind)!
    if (rows.length < 4) return [row]
    const slowest = rows.reduce((one, other) => (figureOf(other) > figureOf(one) ? other : one))
    return row === slowest ? [[`slowest of ${rows.length}: ${row[0]}`, ...row.slice(1)]] : []
  }
  return table.flatMap(shown)
}

/** Returns the number of a cell such as `1,024 bytes`. */
function figureOf([, ours = '']: readonly string[]): number {
  return Number.parseFloat(ours.replaceAll(',', ''))
}

function cellsOf({ question, ours, ratio, bound, isMet }: Row): string[] {
  const boundText = bound === undefined ? '–' : isMet ? bound : `${bound} **missed**`
  return [question, ours, ratio ?? '–', boundText]
}

/** Breaks a text into lines of at most LINE_CHARACTERS. */
function wrap(text: string): string {
  const lines: string[] = []
  for (const word of text.split(/\s+/)) {
    const longer = `${lines.at(-1) ?? ''} ${word}`
    if (lines.length > 0 && longer.length <= LINE_CHARACTERS) lines[lines.length - 1] = longer
    else lines.push(word)
  }
  return lines.join('\n')
}

/** Returns the date, the machine and its load. Call it before a run. */
export function describeRun(): string {
  const processors = cpus()
  const memory = `${Math.round(totalmem() / 2 ** 30)} GB`
  const model = (processors[0]?.model ?? 'unknown').replaceAll(/\(R\)| Processor/g, '').trim()
  const machine = `${processors.length} × ${model}, ${memory}`
  const [load = 0] = loadavg()
  return `${new Date().toISOString().slice(0, 10)}, ${machine}, load ${load.toFixed(1)}`
}
