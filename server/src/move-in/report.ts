/** What a move-in reports, in the run and in the dry run alike: as JSON, and in words. Uses neither files nor the database. */

export interface MoveInReport {
  isDryRun: boolean
  /** By the collections of §3, such as `users` and `socialTasksHistory/users`. */
  collections: Record<string, CollectionReport>
  /** Collections that lead nowhere, by their names. */
  otherCollections: Record<string, { documents: number; example: string }>
  accounts?: AccountsReport
  files?: FilesReport
  /** Documents whose e-mail address or priority an earlier document has. */
  duplicates: { email: Examples; priority: Examples }
  /** The sums of all balances, as exact decimals. */
  balances: { before: string; after: string }
  /** The longest text of each field. */
  longest: Record<string, { characters: number; document: string }>
  /** Documents in the export, as read and as its metadata says, and how many of them are the same as in the last run. */
  documents: { read: number; same: number; stated?: number }
  rejectedPath?: string
  seconds: number
  /** Bytes that the real run takes: for a moment beside the database, and in it. */
  disk: { temporary: number; database: number }
}

/** What became of the documents or accounts that were read. */
interface Outcome {
  read: number
  new: number
  changed: number
  unchanged: number
  /** Those whose record or password was changed in the console, which stays. */
  kept: Examples
  refused: number
  /** The refused ones by their reasons. */
  reasons: Record<string, Examples>
}

export interface CollectionReport extends Outcome {
  /** Fields that lead nowhere, and beside how many of the documents' records they are kept. */
  unmapped: Record<string, { count: number; kept: number; document: string; example: string }>
  /** History documents that exist only as the parent of their participants. They get their id as the title. */
  onlyAsParent: Examples
}

/** A number of documents, and the paths of the first ones. */
export interface Examples {
  count: number
  documents: string[]
}

export interface AccountsReport extends Outcome {
  unverified: number
  disabled: Examples
  /** Accounts without a document in `users`: a sign-in with one answers `No such document!`. */
  withoutDocument: number
  /** Documents in `users` without an account: they need a link, too. */
  usersWithoutAccount: number
  /** Users who need a link to set a password. */
  withoutPassword: { count: number; users: { id: string; email: string | null; providers: string[]; link?: string }[] }
}

export interface FilesReport {
  read: number
  new: number
  unchanged: number
  missing: { document: string; file: string }[]
  refused: { document: string; file: string; reason: string }[]
}

const EXAMPLES = 20
const MAX_FIELDS = 1000
const MAX_REASONS = 100
const FURTHER = '(further ones)'
const EXAMPLE_CHARACTERS = 120
/** Documents and fields that the words name; the JSON names more. */
const SHOWN = 5

export function noExamples(): Examples {
  return { count: 0, documents: [] }
}

export function addExample(examples: Examples, document: string): void {
  examples.count += 1
  if (examples.documents.length < EXAMPLES) examples.documents.push(document)
}

/** Counts a refused document. Reasons may name values, so those beyond the first hundred are counted together. */
export function addReason(reasons: Record<string, Examples>, reason: string, document: string): void {
  const text = reason.replace(/^Line \d+ has the same id/, 'An earlier document has the same id')
  addExample((reasons[boundedKey(reasons, text, MAX_REASONS)] ??= noExamples()), document)
}

/** Returns a record for names of any kind: `constructor` and `__proto__` are names like all others. */
export function noNames<T>(): Record<string, T> {
  return Object.create(null) as Record<string, T>
}

/** Returns the key under which something is counted: with more than `most` keys, the further ones are one. */
function boundedKey(counted: object, key: string, most: number): string {
  return Object.hasOwn(counted, key) || Object.keys(counted).length < most ? key : FURTHER
}

/** Counts a document of a collection that leads nowhere. */
export function addOther(others: MoveInReport['otherCollections'], name: string, document: string): void {
  const other = (others[boundedKey(others, name, MAX_FIELDS)] ??= { documents: 0, example: document })
  other.documents += 1
}

export function noOutcome(): Outcome {
  return { read: 0, new: 0, changed: 0, unchanged: 0, kept: noExamples(), refused: 0, reasons: noNames() }
}

export function newCollectionReport(): CollectionReport {
  return { ...noOutcome(), unmapped: noNames(), onlyAsParent: noExamples() }
}

/** Counts a field that leads nowhere. A map can have any number of names, so those beyond the first thousand are counted together. */
export function addUnmapped(
  unmapped: CollectionReport['unmapped'],
  name: string,
  found: { value: unknown; document: string; isKept: boolean },
): void {
  const key = boundedKey(unmapped, name, MAX_FIELDS)
  const kept = found.isKept ? 1 : 0
  const counted = Object.hasOwn(unmapped, key) ? unmapped[key] : undefined
  if (counted) {
    counted.count += 1
    counted.kept += kept
    return
  }
  const text = JSON.stringify(found.value) ?? ''
  const example = text.length > EXAMPLE_CHARACTERS ? `${text.slice(0, EXAMPLE_CHARACTERS)}…` : text
  unmapped[key] = { count: 1, kept, document: found.document, example }
}

export function isAnythingRefused({ collections, accounts, files, documents }: MoveInReport): boolean {
  const refused = [...Object.values(collections), ...(accounts ? [accounts] : [])].some((part) => part.refused > 0)
  const isIncomplete = documents.stated !== undefined && documents.stated !== documents.read
  return refused || isIncomplete || (files?.refused.length ?? 0) > 0
}

/** Returns the lines of the report for people. */
export function reportInWords(report: MoveInReport): string[] {
  const lines: string[] = []
  const { documents, balances, disk } = report
  if (documents.stated !== undefined && documents.stated !== documents.read)
    lines.push(`The export says that it has ${documents.stated} documents, but ${documents.read} were found: copy it again.`)
  if (documents.same > 0) lines.push(`The same as in the last run: ${documentsOf(documents.same)}`)
  for (const [name, part] of Object.entries(report.collections)) lines.push(...collectionInWords(name, part))
  for (const [name, { documents: count, example }] of Object.entries(report.otherCollections))
    lines.push(`${name}: ${documentsOf(count)} not moved in, such as ${example}`)
  if (report.accounts) lines.push(...accountsInWords(report.accounts))
  if (report.files) lines.push(...filesInWords(report.files))
  for (const [field, examples] of Object.entries(report.duplicates))
    if (examples.count > 0) lines.push(`The same ${field} as an earlier document: ${shown(examples)}`)
  const longest = Object.entries(report.longest).toSorted(([, one], [, other]) => other.characters - one.characters)
  for (const [field, { characters, document }] of longest.slice(0, SHOWN))
    lines.push(`Longest ${field}: ${characters} characters in ${document}`)
  lines.push(`Sum of all balances: ${balances.before} before, ${balances.after} after`)
  if (report.rejectedPath !== undefined) lines.push(`The rows that were refused are in ${report.rejectedPath}`)
  const time = `${report.seconds.toFixed(1)} s`
  const room = `${megabytes(disk.database)} MB in the database, and ${megabytes(disk.temporary)} MB in DATA_DIR while it runs`
  lines.push(
    report.isDryRun
      ? `This was a dry run: nothing was changed. The real run takes about ${time} and ${room}.`
      : `Done in ${time}.`,
  )
  return lines
}

function outcomeInWords(name: string, { read, new: added, changed, unchanged, refused, reasons }: Outcome): string[] {
  return [
    `${name}: ${read} read, ${added} new, ${changed} changed, ${unchanged} unchanged, ${refused} refused`,
    ...Object.entries(reasons).map(([reason, examples]) => `  refused: ${reason}: ${shown(examples)}`),
  ]
}

function collectionInWords(name: string, part: CollectionReport): string[] {
  const lines = outcomeInWords(name, part)
  if (part.kept.count > 0) lines.push(`  kept as they were changed in the console: ${shown(part.kept)}`)
  if (part.onlyAsParent.count > 0)
    lines.push(`  exist only as a parent and get their id as the title: ${shown(part.onlyAsParent)}`)
  for (const [field, { count, kept, document, example }] of Object.entries(part.unmapped)) {
    const such = `such as ${example} in ${document}`
    if (kept > 0) lines.push(`  kept beside the record: ${field} of ${documentsOf(kept)}, ${such}`)
    if (kept < count) lines.push(`  not moved: ${field} of ${documentsOf(count - kept)}, ${such}`)
  }
  return lines
}

function accountsInWords(part: AccountsReport): string[] {
  const { kept, unverified, disabled, withoutDocument, withoutPassword } = part
  const lines = outcomeInWords('accounts', part)
  if (kept.count > 0) lines.push(`  keep the password that they have in the console: ${shown(kept)}`)
  if (unverified > 0) lines.push(`  never confirmed their e-mail address: ${unverified}`)
  if (disabled.count > 0) lines.push(`  disabled in Firebase, and without an account here: ${shown(disabled)}`)
  if (withoutDocument > 0) lines.push(`  have no document in users: ${withoutDocument}`)
  if (part.usersWithoutAccount > 0)
    lines.push(`  have a document in users but no account, and need a link to set a password, too: ${part.usersWithoutAccount}`)
  if (withoutPassword.count > 0) lines.push(`  need a link to set a password: ${withoutPassword.count}`)
  for (const { id, email, providers, link } of withoutPassword.users)
    lines.push(`    ${email ?? id} (${providers.join(', ') || 'no provider'})${link === undefined ? '' : `  ${link}`}`)
  return lines
}

function filesInWords({ read, new: added, unchanged, missing, refused }: FilesReport): string[] {
  return [
    `files: ${read} named, ${added} new, ${unchanged} unchanged, ${missing.length} missing, ${refused.length} refused`,
    ...missing.map(({ document, file }) => `  missing: ${file} of ${document}`),
    ...refused.map(({ document, file, reason }) => `  refused: ${file} of ${document}: ${reason}`),
  ]
}

function shown({ count, documents }: Examples): string {
  const named = documents.slice(0, SHOWN).join(', ')
  return count > SHOWN ? `${named} and ${count - Math.min(SHOWN, documents.length)} more` : named
}

function documentsOf(count: number): string {
  return `${count} ${count === 1 ? 'document' : 'documents'}`
}

function megabytes(bytes: number): number {
  return Math.ceil(bytes / 1_000_000)
}
