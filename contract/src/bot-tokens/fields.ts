/** The scopes of bot tokens. Each scope includes those before it. */
export const botScopes = {
  read: { label: 'Read', does: 'Reads players, tasks, announcements and the leaderboard.' },
  play: {
    label: 'Play',
    does: 'Writes players, claims and entries, too: it gives and takes points, with no limit but the caps in ENTRY_CAPS. What a game needs.',
  },
  admin: { label: 'Admin', does: 'Adjusts balances and reverses entries, too.' },
} as const
export type BotScope = keyof typeof botScopes

/** Whether the scope `own` includes the scope `needed`. */
export function isWithinScope(needed: BotScope, own: BotScope): boolean {
  const order = Object.keys(botScopes)
  return order.indexOf(needed) <= order.indexOf(own)
}

export const MAX_BOT_TOKEN_NAME_LENGTH = 64
