/** Broadcasts: announcements that the console sends to players through Telegram, with an outcome for each recipient. */

/** The states of a broadcast. `waiting`: Telegram asks to wait, cannot be reached, it is a quiet hour, or the disk is nearly full. */
export const broadcastStateLabels = {
  scheduled: 'Scheduled',
  sending: 'Sending',
  waiting: 'Waiting',
  paused: 'Paused',
  done: 'Done',
  cancelled: 'Cancelled',
} as const
export type BroadcastState = keyof typeof broadcastStateLabels

/** The outcomes of a recipient. `unknown`: the answer was lost, so nobody can say whether the player has the message. */
export const recipientOutcomeLabels = {
  pending: 'Pending',
  sent: 'Sent',
  refused: 'Refused',
  failed: 'Failed',
  unknown: 'Unknown',
  skipped: 'Skipped',
  held: 'Held back',
} as const
export type RecipientOutcome = keyof typeof recipientOutcomeLabels

export const refusalReasonLabels = {
  blocked: 'The player has blocked the bot',
  deactivated: 'The player’s Telegram account is deactivated',
  notFound: 'The player has never started the bot',
} as const
export type RefusalReason = keyof typeof refusalReasonLabels

export const skipReasonLabels = {
  blocked: 'The player is blocked',
  erased: 'The player was erased',
  optedOut: 'The player wants no messages',
  unreachable: 'Telegram refused an earlier message',
  cap: 'The player got as many messages this week as allowed',
  ended: 'The broadcast had ended before it was the player’s turn',
  cancelled: 'The broadcast was cancelled before it was the player’s turn',
} as const
export type SkipReason = keyof typeof skipReasonLabels

/** Why a broadcast waits. */
export const waitReasonLabels = {
  telegram: 'Telegram asks to wait',
  unreachable: 'Telegram cannot be reached',
  quietHours: 'Quiet hours',
  diskFull: 'The disk of the console is nearly full',
} as const
export type WaitReason = keyof typeof waitReasonLabels

export const MAX_HOLD_BACK_PERCENT = 20
/** The share of players of whom a claim is expected without a message, where nothing better is known. */
export const BASE_RATE = 0.1

/** The callback data of the button with which a player stops messages. */
export const STOP_MESSAGES = 'arcade:stop'
export const STOP_MESSAGES_LABEL = 'Stop messages'
