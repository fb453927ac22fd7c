/** The SMTP server of a Vitest test: it stops when the test ends. */
import { onTestFinished } from 'vitest'
import { type Behaviour, type MailServer, startMailServer } from './mail-server.ts'

export async function mailServer(
  behaviour: Behaviour = 'take',
  options: Parameters<typeof startMailServer>[1] = {},
): Promise<MailServer> {
  const server = await startMailServer(behaviour, options)
  onTestFinished(() => server.stop())
  return server
}
