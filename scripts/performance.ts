/** Writes the text of docs/performance.md: a section for each bench, from its last run. */
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
  /** The comment at the head of the bench's file. The document shows its first sentence. */
  about: string
  /** The command that runs the bench again. */
  command: string
  /** When and on which machine the bench ran (`describeRun`). */
  ran: string
  rows: readonly Row[]
}

const LINE_CHARACTERS = 130

const opening = `# Performance

\`npm run bench\` writes this document: a section for each file of \`bench/\`, from its last run. \`--strict\` fails if a bound is missed.

- **ours** is the console as it runs in production, on its own PostgreSQL.
- **to limit** compares it with the best possible answer, measured in the same run: the same statement from a bare \`node:http\`
  server, \`COPY\` of the same rows, the same hashes alone, or the same question over fewer rows.
- **bound** is the [budget](design.md#9-budgets): of the ratio where there is one, else of ours.

A row with p99 has two figures in each cell. A section shows the questions that have a bound, or all of them if none has. A run
prints the others too. Ratios say more than figures, which depend on the machine and its load.
`

/** Returns the document with this section replaced. Sections are sorted by name. */
export function withSection(document: string, section: Section): string {
  const sections = new Map(
    document
      .split(/^(?=## )/m)
      .slice(1)
      .map((text) => [/^## (.*)$/m.exec(text)?.[1] ?? '', text.trimEnd()]),
  )
  sections.set(section.name, sectionText(section))
  const sorted = [...sections].toSorted(([one], [other]) => (one < other ? -1 : 1))
  return `${[opening.trimEnd(), ...sorted.map(([, text]) => text)].join('\n\n')}\n`
}

function sectionText({ name, about, command, ran, rows }: Section): string {
  const bounded = rows.filter(({ bound }) => bound !== undefined)
  const table = joinP99(bounded.length > 0 ? bounded : rows).map(
    (cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`,
  )
  const head = ['| question | ours | to limit | bound |', '|---|--:|--:|--:|']
  return [`## ${name}`, wrap(`${firstSentence(about)} \`${command}\`, ${ran}:`), [...head, ...table].join('\n')].join('\n\n')
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

function cellsOf({ question, ours, ratio, bound, isMet }: Row): string[] {
  const boundText = bound === undefined ? '–' : isMet ? bound : `${bound} **missed**`
  return [question, ours, ratio ?? '–', boundText]
}

function firstSentence(text: string): string {
  const [sentence = ''] = /^[\s\S]*?[.:](?=\s+[A-Z`]|$)/.exec(text.replace(/^(?:Design §9|security\.md, \w+):\s*/, '')) ?? [text]
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}`
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

/** Returns the text of the comment at the head of a file. */
export function headComment(source: string): string {
  const comment = /^\/\*\*([\s\S]*?)\*\//.exec(source)?.[1] ?? ''
  return comment.replaceAll(/^\s*\* ?/gm, '').trim()
}

/** Returns the date, the machine and its load. Call it before a run. */
export function describeRun(): string {
  const processors = cpus()
  const memory = `${Math.round(totalmem() / 2 ** 30)} GB`
  const machine = `${processors.length} × ${processors[0]?.model.trim() ?? 'unknown'}, ${memory}`
  const [load = 0] = loadavg()
  return `${new Date().toISOString().slice(0, 10)}, ${machine}, load ${load.toFixed(1)}`
}
