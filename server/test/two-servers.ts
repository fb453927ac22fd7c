/** Two servers for tests of what they tell each other. */
import { onTestFinished } from 'vitest'
import { testApp, type TestApp } from './test-app.ts'
import { openAgain } from './test-database.ts'

/** Two servers in one process that share nothing but the database and the file store. */
export async function twoServers(options: Parameters<typeof testApp>[0] = {}): Promise<[TestApp, TestApp]> {
  const [one, other] = [
    await testApp({ ...options, database: await openAgain() }),
    await testApp({ ...options, database: await openAgain() }),
  ]
  onTestFinished(() => [one, other].forEach(({ live }) => live.stop()))
  return [one, other]
}
