/** The stand-in's process: the Bot API under /bot…, and a page for playing as a player beside the console. */
import type { HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { type Context, Hono } from 'hono'
import { z } from 'zod'
import { listen } from '#src/listen.ts'
import { buildPage } from '#src/pages.ts'
import { createBotApi } from './bot-api.ts'
import { faultKinds } from './faults.ts'
import { serveFramed } from './framed-console.ts'
import { people } from './people.ts'

const CHAT_WAIT_MS = 20_000

const { TELEGRAM_BOT_TOKEN: token = '1:stand-in', CONSOLE_URL, PORT = '3001' } = process.env
const api = createBotApi({ token })
const page = await buildPage('stand-in/page')
const consoleFrame = CONSOLE_URL ? await serveFramed(CONSOLE_URL) : null

const app = new Hono()
app.post('/:bot{bot[^/]+}/:method', async (c) => {
  const { bot, method } = c.req.param()
  if (bot !== `bot${token}`) return c.json({ ok: false, error_code: 401, description: 'Unauthorized' }, 401)
  const { status, body, isLost } = await api.call(method, await readParams(c), c.req.raw.signal)
  if (!isLost) return Response.json(body, { status })
  const { outgoing } = c.env as HttpBindings
  outgoing.destroy()
  return RESPONSE_ALREADY_SENT
})

/** A call has JSON or, with a file, a form. */
async function readParams(c: Context): Promise<Record<string, unknown>> {
  const isForm = c.req.header('content-type')?.startsWith('multipart/form-data')
  return isForm ? c.req.parseBody() : c.req.json<Record<string, unknown>>().catch(() => ({}))
}

// For tests: how many messages arrived, the chat of any player, and empty chats for the next test.
app.get('/sent', (c) => c.json(api.sent()))
app.delete('/chats', (c) => {
  api.forgetChats()
  return c.body(null, 204)
})
app.get('/chats/:id', async (c) => {
  const chat = await api.chat(Number(c.req.param('id')), { known: '', ms: 0, signal: c.req.raw.signal })
  return c.json(chat)
})

// Endpoints of the page. `/chats/7100001` is a player's chat with the bot.
app.get('/people', (c) => c.json({ people, consoleFrame }))
const personOf = (id: string) => people.find((one) => one.id === Number(id)) ?? people[0]!
app.post('/chats/:id/wait', async (c) => {
  const known = await c.req.text()
  return c.json(await api.chat(personOf(c.req.param('id')).id, { known, ms: CHAT_WAIT_MS, signal: c.req.raw.signal }))
})
app.post('/chats/:id/messages', async (c) => {
  api.say(personOf(c.req.param('id')), z.object({ text: z.string().min(1) }).parse(await c.req.json()).text)
  return c.body(null, 204)
})
app.post('/chats/:id/presses', async (c) => {
  api.press(personOf(c.req.param('id')), z.object({ messageId: z.int(), data: z.string() }).parse(await c.req.json()))
  return c.body(null, 204)
})
app.post('/chats/:id/launches', async (c) => {
  const launch = z.object({ url: z.url(), theme: z.record(z.string(), z.string()) }).parse(await c.req.json())
  return c.json({ url: api.launch(personOf(c.req.param('id')), launch) })
})
app.get('/files/:id', (c) => {
  const file = api.file(c.req.param('id'))
  return file ? c.body(file.bytes, 200, { 'content-type': file.type }) : c.notFound()
})
const some = z.number().min(1).exactOptional()
app.put('/faults', async (c) => {
  const fault = z.object({
    kind: z.enum(faultKinds),
    times: z.int().min(0).exactOptional(),
    seconds: some,
    method: z.string().exactOptional(),
    chatOf: some,
    callOf: some,
  })
  api.misbehave(z.array(fault).parse(await c.req.json()))
  return c.body(null, 204)
})
app.route('/', page)

console.log(`The stand-in is ready at ${await listen(Number(PORT), () => app)}`)
