/** The stand-in's process: the Bot API under /bot…, and a page for playing as a player beside the console. */
import { Hono } from 'hono'
import { z } from 'zod'
import { listen } from '#src/listen.ts'
import { buildPage } from '#src/pages.ts'
import { createBotApi, faultKinds } from './bot-api.ts'
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
  const params = await c.req.json<Record<string, unknown>>().catch(() => ({}))
  const { status, body } = await api.call(method, params, c.req.raw.signal)
  return Response.json(body, { status })
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
app.put('/faults', async (c) => {
  const fault = z.object({ kind: z.enum(faultKinds), times: z.int().min(0), method: z.string().exactOptional() })
  api.misbehave(z.array(fault).parse(await c.req.json()))
  return c.body(null, 204)
})
app.route('/', page)

console.log(`The stand-in is ready at ${await listen(Number(PORT), () => app)}`)
