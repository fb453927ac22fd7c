/** Sample tasks and announcements for an empty console, as rows of the import. */
import type { TaskCollection } from '@arcade/contract/tasks/fields'
import { type Columns, parseAnnouncement, parseTask } from './import-rows.ts'

/** The type, title and link of each task, by priority. */
const tasks: Record<TaskCollection, [type: string, title: string, link?: string][]> = {
  social: [
    ['twitter', 'Follow us on X', 'https://x.com/arcade'],
    ['moreLink', 'Read the weekly post', 'https://arcade.example.org/blog'],
    ['instagram', 'Follow us on Instagram', 'https://instagram.com/arcade'],
    ['discord', 'Join our Discord', 'https://discord.gg/arcade'],
    ['youtube', 'Subscribe to our channel', 'https://youtube.com/@arcade'],
    ['linkedin', 'Join us on LinkedIn', 'https://linkedin.com/company/arcade'],
    ['email', 'Tell us your email'],
    ['bsc', 'Submit your BSC wallet'],
    ['twitter', 'Repost the season trailer', 'https://x.com/arcade/status/2'],
    ['instagram', 'Share a story with us', 'https://instagram.com/arcade/story'],
    ['youtube', 'Watch the gameplay guide', 'https://youtube.com/@arcade/guide'],
    ['moreLink', 'Take the player survey', 'https://arcade.example.org/survey'],
  ],
  daily: [
    ['telegram', 'Visit the channel', 'https://t.me/arcade'],
    ['twitter', 'Like the post of the day', 'https://x.com/arcade/today'],
    ['instagram', 'See the story of the day', 'https://instagram.com/arcade/today'],
    ['youtube', 'Watch the daily clip', 'https://youtube.com/@arcade/daily'],
    ['moreLink', 'Spin the wheel', 'https://arcade.example.org/wheel'],
    ['telegram', 'Vote in the poll', 'https://t.me/arcade/poll'],
    ['moreLink', 'Read the tip of the day', 'https://arcade.example.org/tip'],
  ],
}

const announcements: [title: string, subtitle: string, part: 'desc' | 'input' | 'noInput'][] = [
  ['Season 2 is live', 'Fresh levels, fresh rewards', 'desc'],
  ['Retweet and earn', 'One tap, one reward', 'input'],
  ['Double points weekend', 'From Friday to Sunday', 'noInput'],
  ['Partner quest: TON Space', 'Connect and claim', 'desc'],
  ['New mini-game: Brick Rush', 'Show us your best score', 'input'],
  ['Feedback form', 'Two minutes, one reward', 'noInput'],
  ['Server maintenance', 'Back in an hour', 'desc'],
  ['Vote for the next skin', 'Your vote counts', 'input'],
  ['AMA on Friday', 'Bring your questions', 'noInput'],
]

/** Returns tasks that were created within the last year. @param today an ISO date */
export function seedTasks(collection: TaskCollection, today: string): Columns[] {
  return tasks[collection].map(([image, title, link], index) => {
    const row = { id: `seed-${collection}-${index + 1}`, image, title, link, priority: index + 1, reward: 100 * (index + 1) }
    return parseTask(collection, { ...row, createdAt: daysBefore(today, 365 - index) }).columns
  })
}

/** Returns announcements that were created within the last year; every other one is active. @param today an ISO date */
export function seedAnnouncements(today: string): Columns[] {
  return announcements.map(([title, subtitle, part], index) => {
    const row = {
      id: `seed-announcement-${index + 1}`,
      type: part === 'desc' ? 'desc' : 'link',
      title,
      subtitle,
      description: `Everything you need to know about “${title}”.`,
      link: `https://arcade.example.org/a/${index + 1}`,
      linkType: part,
      inputText: 'Paste the link to your post',
      reward: 250 * (index + 1),
      status: index % 2 === 0,
    }
    return parseAnnouncement({ ...row, createdAt: daysBefore(today, 365 - 30 * index) }).columns
  })
}

function daysBefore(today: string, days: number): number {
  return Date.parse(today) - days * 86_400_000
}
