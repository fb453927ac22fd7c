/** The tasks and announcements of the sample: every type of §5, active and inactive, some without participants. */
export interface Item {
  title: string
  reward: number
  /** Days from its creation to the newest moment of the sample. */
  age: number
  /** The number of players who took part. */
  participants: number
}
export interface Task extends Item {
  type: string
  priority: number
  link?: string
}
export interface Announcement extends Item {
  subtitle: string
  status: boolean
  /** With a description the type is `desc`, otherwise `link`. */
  description?: string
  link?: string
  /** With this text the link asks for an input. */
  inputText?: string
}

export const social: Task[] = [
  {
    type: 'twitter',
    priority: 1,
    title: 'Follow us on X',
    link: 'https://x.com/arcade',
    reward: 500,
    age: 351,
    participants: 118,
  },
  {
    type: 'instagram',
    priority: 3,
    title: 'Follow us on Instagram',
    link: 'https://www.instagram.com/arcade/',
    reward: 500,
    age: 350,
    participants: 74,
  },
  {
    type: 'discord',
    priority: 2,
    title: 'Join our Discord',
    link: 'https://discord.gg/arcade',
    reward: 750,
    age: 347,
    participants: 63,
  },
  {
    type: 'linkedin',
    priority: 10,
    title: 'Join us on LinkedIn',
    link: 'https://www.linkedin.com/company/arcade',
    reward: 250.5,
    age: 330,
    participants: 9,
  },
  {
    type: 'youtube',
    priority: 4,
    title: 'Watch the trailer: “Arcade, Season 1”',
    link: 'https://www.youtube.com/watch?v=arcade-1&t=30s',
    reward: 300,
    age: 298,
    participants: 52,
  },
  { type: 'email', priority: 5, title: 'Tell us your email', reward: 1000, age: 240, participants: 41 },
  { type: 'bsc', priority: 7, title: 'Submit your BSC wallet', reward: 1250.75, age: 203, participants: 33 },
  {
    type: 'moreLink',
    priority: 12,
    title: 'Read the white paper',
    link: 'https://arcade.example.org/paper?lang=en#tokens',
    reward: 400,
    age: 160,
    participants: 21,
  },
  {
    type: 'twitter',
    priority: 6,
    title: 'Retweet the pinned post ❤️',
    link: 'https://x.com/arcade/status/1830000000000000001',
    reward: 350.25,
    age: 97,
    participants: 27,
  },
  {
    type: 'discord',
    priority: 15,
    title: 'Say hello in #introductions',
    link: 'https://discord.com/channels/arcade/introductions',
    reward: 0,
    age: 45,
    participants: 5,
  },
  {
    type: 'instagram',
    priority: 20,
    title: 'Ваша сторінка: додайте Arcade до історії',
    link: 'https://www.instagram.com/stories/arcade/',
    reward: 900,
    age: 16,
    participants: 2,
  },
  {
    type: 'linkedin',
    priority: 99,
    title: 'Recommend a friend for our team – an interview is enough, the reward is paid when the call has taken place',
    link: 'https://www.linkedin.com/jobs/arcade',
    reward: 25_000,
    age: 2,
    participants: 0,
  },
]

export const daily: Task[] = [
  {
    type: 'telegram',
    priority: 1,
    title: 'Read today’s post in the channel',
    link: 'https://t.me/arcade',
    reward: 100,
    age: 340,
    participants: 92,
  },
  {
    type: 'twitter',
    priority: 2,
    title: 'Like the post of the day',
    link: 'https://x.com/arcade',
    reward: 50.5,
    age: 322,
    participants: 57,
  },
  {
    type: 'youtube',
    priority: 3,
    title: 'Watch the daily short',
    link: 'https://www.youtube.com/@arcade/shorts',
    reward: 75,
    age: 214,
    participants: 44,
  },
  {
    type: 'moreLink',
    priority: 5,
    title: 'Spin the wheel',
    link: 'https://arcade.example.org/wheel',
    reward: 25.25,
    age: 122,
    participants: 36,
  },
  {
    type: 'instagram',
    priority: 4,
    title: 'React to the story',
    link: 'https://www.instagram.com/stories/arcade/',
    reward: 60,
    age: 61,
    participants: 15,
  },
  {
    type: 'telegram',
    priority: 8,
    title: 'Invite a friend to the group',
    link: 'https://t.me/arcade_chat',
    reward: 1500,
    age: 20,
    participants: 7,
  },
  {
    type: 'twitter',
    priority: 13,
    title: 'Answer the question of the day',
    link: 'https://x.com/arcade/with_replies',
    reward: 120,
    age: 1,
    participants: 0,
  },
]

export const announcements: Announcement[] = [
  {
    title: 'Season 2 is live',
    subtitle: 'Fresh levels, fresh rewards',
    description:
      'Everything you need to know about the new season:\n\n• 40 new levels\n• a shop for skins\n• double points until Sunday',
    reward: 250,
    status: true,
    age: 300,
    participants: 121,
  },
  {
    title: 'Retweet and earn',
    subtitle: 'One tap, one reward',
    link: 'https://x.com/arcade/status/1830000000000000002',
    inputText: 'Paste the link to your post',
    reward: 500,
    status: false,
    age: 261,
    participants: 84,
  },
  {
    title: 'Double points weekend',
    subtitle: 'From Friday to Sunday',
    link: 'https://arcade.example.org/weekend',
    reward: 750.5,
    status: true,
    age: 219,
    participants: 62,
  },
  {
    title: 'Partner quest: TON Space',
    subtitle: 'Connect & claim <b>today</b>',
    description: 'Connect a wallet in TON Space, then come back and claim.',
    reward: 1000,
    status: false,
    age: 170,
    participants: 49,
  },
  {
    title: 'New mini-game: Brick Rush 🧱',
    subtitle: 'Show us your best score',
    link: 'https://arcade.example.org/brick-rush?utm_source=console&utm_medium=bot',
    inputText: 'Your best score, or a link to the screenshot',
    reward: 1250.25,
    status: true,
    age: 118,
    participants: 38,
  },
  {
    title: 'Feedback form',
    subtitle: 'Two minutes, one reward',
    link: 'https://arcade.example.org/feedback',
    reward: 300,
    status: true,
    age: 76,
    participants: 23,
  },
  {
    title: 'Server maintenance',
    subtitle: 'Back in an hour',
    description: 'On Tuesday from 02:00 to 03:00 UTC the game rests. Balances stay as they are.',
    reward: 0,
    status: false,
    age: 40,
    participants: 0,
  },
  {
    title: 'Vote for the next skin',
    subtitle: 'Neon fox, paper frog or koala in a tuxedo: your vote counts',
    link: 'https://arcade.example.org/vote',
    inputText: 'fox, frog or koala',
    reward: 100,
    status: true,
    age: 12,
    participants: 15,
  },
  {
    title: 'AMA on Friday',
    subtitle: 'Ask us anything, in any language',
    link: 'https://t.me/arcade_chat',
    reward: 150,
    status: false,
    age: 3,
    participants: 0,
  },
]
