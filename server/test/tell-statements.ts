/** Loaded before a program of the product that a test starts as a process: tells the test each statement that it sends, the first time. */
import { sentStatements, type SentStatement } from '#src/postgres/connections.ts'

const told = new Set<string>()

sentStatements.subscribe((statement) => {
  const { text } = statement as SentStatement
  if (told.has(text)) return
  told.add(text)
  // A test that has ended hears nothing, which is no error of the process.
  process.send?.({ text } satisfies SentStatement, () => undefined)
})
