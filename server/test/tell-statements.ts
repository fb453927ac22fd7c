/** Preloaded into each process of the console that a test starts: reports every distinct SQL statement to the test over IPC. */
import { sentStatements, type SentStatement } from '#src/postgres/connections.ts'

const reported = new Set<string>()

sentStatements.subscribe((statement) => {
  const { text } = statement as SentStatement
  if (reported.has(text)) return
  reported.add(text)
  // The callback ignores an error: the test may have ended.
  process.send?.({ text } satisfies SentStatement, () => undefined)
})
