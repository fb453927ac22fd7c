/** docs/performance.md: a section for each bench, told by its last run and the machine of that run. The other sections stay as they are. */
import { cpus, loadavg, release, totalmem, type } from 'node:os'

/** What a bench reports of one question, in words: a line of JSON each in the file that BENCH_ROWS names (bench/harness.ts). */
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
  /** The comment at the head of its file. */
  about: string
  /** That repeats it. */
  command: string
  /** When and on what it ran. */
  ran: string
  rows: readonly Row[]
}

const opening = `# Performance

What \`npm run bench\` measures. It writes this document: a section for each file of \`bench/\`, from the last run of that file.

- **ours** is the console as it runs in production, on its own PostgreSQL.
- **limit** is the best there could be for the question, measured in the same run: the same statement from a bare \`node:http\` server, the same rows
  by \`COPY\`, the same hashes alone, or the same question of fewer rows. What it is stands above the table where it is not named in the row.
- **ratio** is ours by the limit, and **bound** what [the design](design.md#9-budgets) asks: of the ratio where there is one, else of ours.

Repeat all of it with \`npm run bench\`, a section with the command above its table; \`--strict\` fails beyond a bound. Ratios tell more than figures: those depend on
the machine and on what else it does, which the load average before the run tells.
`

/** The document with this section anew; all sections are in the order of their names. */
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
  const table = rows.map(({ question, ours, limit, ratio, bound, isMet }) => {
    const cells = [
      question,
      ours,
      limit ?? '–',
      ratio ?? '–',
      bound ?? '–',
      bound === undefined ? '' : isMet ? 'met' : '**missed**',
    ]
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  })
  const head = ['| question | ours | limit | ratio | bound | |', '|---|--:|--:|--:|--:|---|']
  return [`## ${name}`, about, `\`${command}\`, ${ran}:`, [...head, ...table].join('\n')].join('\n\n')
}

/** The text of the comment that a file begins with. */
export function headComment(source: string): string {
  const comment = /^\/\*\*([\s\S]*?)\*\//.exec(source)?.[1] ?? ''
  return comment.replaceAll(/^\s*\* ?/gm, '').trim()
}

/** The date, the machine and how busy it is, to be asked before a run. */
export function occasion(): string {
  const processors = cpus()
  const memory = `${Math.round(totalmem() / 2 ** 30)} GB`
  const machine = `${processors.length} × ${processors[0]?.model.trim() ?? 'unknown'}, ${memory}, ${type()} ${release().split('-')[0]}`
  const [load = 0] = loadavg()
  return `${new Date().toISOString().slice(0, 10)}, ${machine}, Node ${process.versions.node}, load average ${load.toFixed(1)} before`
}
