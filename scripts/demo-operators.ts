/**
 * The operators of the demo: three admins who have worked before it is shown, all by the console's own calls. So there are images, blocked
 * players, corrected balances, a webhook whose deliveries fail, a saved view, something in the trash, and an audit of all that.
 */
import { randomBytes } from 'node:crypto'
import { type Call, signIn } from './demo-calls.ts'
import { drawImage, type ImageName } from './demo-images.ts'

/** The host of the addresses of the demo's users. */
export const USERS_HOST = 'example.org'
/** No program listens at this port (discard), so deliveries are refused. */
const DEAF_ADDRESS = 'http://127.0.0.1:9/game/hooks'

const IMAGE_SIZE = { width: 640, height: 360 }
const ICON_SIZE = { width: 128, height: 128 }
/** The announcements with an image, by the beginning of the title. */
const images: Readonly<Record<string, ImageName>> = {
  'Season 2': 'season-2.png',
  'Double points': 'double-points.png',
  'New mini-game': 'brick-rush.png',
  'Vote for': 'next-skin.png',
  'Feedback form': 'feedback.png',
}

const editor = { fname: 'Олена', lname: 'Мельник', email: `olena@${USERS_HOST}` }
const supporter = { fname: 'Kwame', lname: 'Mensah', email: `kwame@${USERS_HOST}` }
const others = [
  { fname: '美咲', lname: '渡邊', email: `misaki@${USERS_HOST}` },
  { fname: 'Zeynep', lname: 'Öztürk', email: `zeynep@${USERS_HOST}` },
  { fname: 'آرش', lname: 'حسینی', email: `arash@${USERS_HOST}` },
]

/** Lets the three work. @param chief the account of the admin who signs in to the demo */
export async function workAhead(consoleUrl: string, chief: { email: string; password: string }): Promise<void> {
  const call = await signIn(consoleUrl, chief)
  await nameOneself(call)
  const colleague = async (person: typeof editor): Promise<Call> => {
    const { id, password } = await addUser(call, person)
    await call('PUT', `/api/users/${id}/user-type`, { userType: 'admin' })
    return signIn(consoleUrl, { email: person.email, password })
  }
  await addWebhook(call)
  for (const person of others) await addUser(call, person)
  await edit(await colleague(editor))
  await support(await colleague(supporter))
}

async function nameOneself(call: Call): Promise<void> {
  const { user } = await call<{ user: { id: string } }>('GET', '/api/session')
  await call('PATCH', `/api/users/${user.id}`, { fname: 'Ada', lname: 'Lindqvist' })
}

async function addUser(call: Call, person: typeof editor): Promise<{ id: string; password: string }> {
  const password = randomBytes(9).toString('base64url')
  const { id } = await call<{ id: string }>('POST', '/registerUser', { ...person, password, confirmPassword: password })
  return { id, password }
}

async function addWebhook(call: Call): Promise<void> {
  const events = ['announcement.activated', 'task.changed', 'player.adjusted']
  const { id } = await call<{ id: string }>('POST', '/api/webhooks', { url: DEAF_ADDRESS, events })
  await call('POST', `/api/webhooks/${id}/test`, {})
}

interface Announcement {
  id: string
  type: 'desc' | 'link'
  title: string
  subtitle: string
  description: string | null
  link: string | null
  linkType: string | null
  inputText: string | null
  reward: number
  status: boolean
  version: number
}

async function edit(call: Call): Promise<void> {
  const { announcements } = await call<{ announcements: Announcement[] }>('GET', '/api/announcements')
  for (const [title, image] of Object.entries(images)) {
    const announcement = announcements.find((one) => one.title.startsWith(title))
    if (announcement) await illustrate(call, announcement, image)
  }
  await changeReward(call)
  await call('POST', '/api/views', { list: 'telegramUsers', name: 'Blocked', isShared: true, address: 'status=blocked&size=25' })
  const teaser = { type: 'desc', title: 'Teaser: Season 3', subtitle: 'Something is coming', description: 'Soon…', reward: 0 }
  const { id } = await call<{ id: string }>('POST', '/api/announcements', teaser)
  await call('DELETE', `/api/announcements/${id}`)
}

/** Gives an announcement an image and an icon. An active one stays active. */
async function illustrate(call: Call, announcement: Announcement, name: ImageName): Promise<void> {
  const upload = (size: typeof IMAGE_SIZE, as: string) =>
    call<{ key: string; name: string }>('POST', `/api/files/announcements?name=${as}`, drawImage(name, size))
  const image = await upload(IMAGE_SIZE, name)
  const icon = await upload(ICON_SIZE, `icon-${name}`)
  const { id, type, title, subtitle, description, link, linkType, inputText, reward, status, version } = announcement
  await call('PUT', `/api/announcements/${id}`, {
    type,
    title,
    subtitle,
    reward,
    version,
    image: image.key,
    imageName: image.name,
    icon: icon.key,
    iconName: icon.name,
    ...(description !== null && { description }),
    ...(link !== null && { link, linkType }),
    ...(inputText !== null && { inputText }),
    ...(status && { staysActive: true }),
  })
}

async function changeReward(call: Call): Promise<void> {
  const { tasks } = await call<{
    tasks: { id: string; type: string; title: string; priority: number; link: string | null; reward: number; version: number }[]
  }>('GET', '/api/daily-tasks')
  const task = tasks.find(({ title }) => title === 'Spin the wheel')
  if (!task) return
  const { id, type, title, priority, link, version } = task
  await call('PUT', `/api/daily-tasks/${id}`, { type, title, priority, link: link ?? '', reward: 40, version })
}

interface Player {
  userId: number
  username: string | null
}

async function support(call: Call): Promise<void> {
  const { users } = await call<{ users: Player[] }>('GET', '/api/telegram-users?pageSize=25')
  const [richest, second, third, fourth] = users.map(({ userId }) => userId)
  const block = async (ids: readonly (number | undefined)[], reason: string): Promise<void> => {
    const target = { ids: ids.flatMap((id) => (id === undefined ? [] : String(id))) }
    if (target.ids.length > 0) await call('POST', '/api/telegram-users/block', { target, reason })
  }
  const adjust = async (userId: number | undefined, amount: number, reason: string): Promise<void> => {
    if (userId !== undefined) await call('POST', `/api/telegram-users/${userId}/adjustments`, { amount, reason })
  }
  await block([fourth], 'Plays with an auto-clicker: 40 perfect rounds in a row')
  await block(
    users.slice(16, 19).map(({ userId }) => userId),
    'One wallet for three accounts',
  )
  await adjust(richest, 500, 'Lost a round while the server restarted')
  await adjust(second, -200, 'Was paid twice for the same screenshot')
  await adjust(third, 1250.75, 'Prize of the design contest')
  if (richest !== undefined) await reverseRound(call, richest)
}

async function reverseRound(call: Call, userId: number): Promise<void> {
  const { entries } = await call<{ entries: { id: string; cause: string }[] }>('GET', `/api/telegram-users/${userId}/entries`)
  const round = entries.find(({ cause }) => cause === 'round')
  if (!round) return
  const reversal = { entryId: round.id, reason: 'Played on two phones at once' }
  await call('POST', `/api/telegram-users/${userId}/reversals`, reversal)
}
