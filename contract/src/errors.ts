/**
 * The catalogue of all errors (§8): stable code, HTTP status and text for people. Any other error reaches the client as INTERNAL; its cause
 * stays in the server's log.
 */
import type { SecondFactorMethod } from '#src/second-factor/fields.ts'
import { MAX_WEBHOOKS } from '#src/webhooks/fields.ts'
import { MAX_PASSKEYS } from '#src/passkeys/fields.ts'
import { MAX_VIEWS } from '#src/views/fields.ts'

export const errorCatalogue = {
  // §8, verbatim
  CREATE_USER_FAILED: { status: 409, message: 'Error creating user!' },
  LOGIN_FAILED: { status: 401, message: 'Error logging in!' },
  NO_SUCH_DOCUMENT: { status: 403, message: 'No such document!' },
  LOGOUT_FAILED: { status: 500, message: 'Error logging out!' },
  FETCH_USERS_FAILED: { status: 500, message: 'Error fetching users!' },
  PRIORITY_TAKEN: { status: 409, message: 'Priority is already taken!' },
  CREATE_TASK_FAILED: { status: 500, message: 'Internal Server Error!' },
  FETCH_TASKS_FAILED: { status: 500, message: 'Error fetching tasks!' },
  NO_TASKS_FOUND: { status: 404, message: 'No tasks found!' },
  FETCH_ANNOUNCEMENTS_FAILED: { status: 500, message: 'Error fetching annoucements!' }, // sic, §8
  NO_ANNOUNCEMENTS_FOUND: { status: 404, message: 'No annoucements found!' }, // sic, §8
  METRICS_FAILED: { status: 500, message: 'Error calculating metrics' },
  ANNOUNCEMENT_NOT_FOUND: { status: 404, message: 'Announcement not found' },

  // Not in §8
  NO_SUCH_USER: { status: 404, message: 'This user does not exist any more.' },
  NO_SUCH_TASK: { status: 404, message: 'This task does not exist any more.' },
  NO_SUCH_TOKEN: { status: 404, message: 'This bot token does not exist any more.' },
  TOKEN_NAME_TAKEN: { status: 409, message: 'There is a bot token of this name already.' },
  NO_SUCH_WEBHOOK: { status: 404, message: 'This webhook or delivery does not exist any more.' },
  WEBHOOK_OFF: { status: 409, message: 'This webhook is switched off, so no test is sent to it. Switch it on first.' },
  TOO_MANY_WEBHOOKS: { status: 409, message: `There are ${MAX_WEBHOOKS} webhooks. Please delete one before you add another.` },
  NO_SUCH_BROADCAST: { status: 404, message: 'This broadcast does not exist.' },
  BROADCAST_BEGUN: { status: 409, message: 'This broadcast has begun. You can pause it or cancel it.' },
  BROADCAST_OVER: { status: 409, message: 'This broadcast is done or cancelled already.' },
  MESSAGE_TOO_LONG: { status: 409, message: 'Telegram does not take a text of this length.' },
  TELEGRAM_OFF: {
    status: 409,
    message: 'The console has no bot to send with. Set TELEGRAM_BOT_TOKEN and start the server again.',
  },
  TELEGRAM_REFUSED: { status: 409, message: 'Telegram did not take the message.' },
  NO_OWN_TELEGRAM: { status: 409, message: 'Link your own Telegram account under Your Account first.' },
  NO_SUCH_BACKUP: { status: 404, message: 'This backup does not exist.' },
  BACKUP_UNDER_WAY: {
    status: 409,
    message: 'A backup is being made or verified already. Please wait until it has ended, or cancel it.',
  },
  NOT_VERIFIABLE: {
    status: 409,
    message: 'This backup cannot be verified here: it is not complete, was removed, or is elsewhere.',
  },
  NOT_UNDER_WAY: { status: 409, message: 'This backup is not being made or verified any more.' },
  NO_SUCH_PLAYER: { status: 404, message: 'This player does not exist.' },
  PLAYER_BLOCKED: { status: 409, message: 'This player is blocked: nothing can be claimed or entered.' },
  PLAYER_ERASED: { status: 409, message: 'This player was erased: nothing can be changed any more.' },
  BOT_VERIFIES: { status: 403, message: 'The bot verifies this, so only the bot can claim it for a player.' },
  ANNOUNCEMENT_INACTIVE: { status: 409, message: 'This announcement is not active, so it cannot be claimed.' },
  NOT_STARTED: { status: 409, message: 'This has not started yet, so it cannot be claimed.' },
  ENDED: { status: 409, message: 'This has ended, so it cannot be claimed any more.' },
  FULL: { status: 409, message: 'All places are taken, or the points for today (UTC) are spent, so it cannot be claimed.' },
  PAUSED: { status: 409, message: 'This is paused, so it cannot be claimed at the moment.' },
  BALANCE_TOO_LOW: { status: 409, message: 'The balance is too low for this: it would go below 0.' },
  BALANCE_TOO_HIGH: { status: 409, message: 'The balance would be too high to be kept exactly.' },
  CAP_REACHED: { status: 409, message: 'This would be more than the cause may give to or take from a player on a day (UTC).' },
  LIMIT_REACHED: { status: 403, message: 'This is more than your role may do.' },
  REFERENCE_REUSED: { status: 409, message: 'This reference was entered before with another amount.' },
  NO_SUCH_ENTRY: { status: 404, message: 'This player has no such entry.' },
  NOT_REVERSIBLE: {
    status: 409,
    message: 'Neither what an import brought nor a reversal can be reversed. Adjust the balance instead.',
  },
  INPUT_MISSING: { status: 400, message: 'This announcement asks the player for an input: send it as userInput.' },
  NOT_YOUR_NOTE: { status: 403, message: 'Only who wrote a note may do this to it.' },
  NO_SUCH_NOTE: { status: 404, message: 'This note does not exist any more.' },
  NO_SUCH_HISTORY: { status: 404, message: 'This item has no history.' },
  NO_SUCH_VIEW: { status: 404, message: 'This view does not exist any more.' },
  VIEW_NAME_TAKEN: { status: 409, message: 'You have a view of this name already.' },
  NO_SUCH_SEGMENT: {
    status: 409,
    message: 'This segment does not exist any more, or is not shared any more. Please choose another one.',
  },
  VIEW_IS_SEGMENT: {
    status: 409,
    message: 'Items are for the players of this view, so it must stay and stay shared.',
  },
  TOO_MANY_VIEWS: { status: 409, message: `You have ${MAX_VIEWS} views. Please delete one before you save another.` },
  NO_SUCH_VERSION: { status: 404, message: 'This version is not in the history any more.' },
  VERSION_GAP: {
    status: 409,
    message: 'This version cannot be restored: the history does not know all that has changed since.',
  },
  NOT_IN_TRASH: { status: 404, message: 'This is not in the trash any more.' },
  EMAIL_TAKEN: { status: 409, message: 'This email is in use already.' },
  NOTHING_TO_UNDO: { status: 404, message: 'There is nothing here that could be undone.' },
  CHANGED_SINCE: { status: 409, message: 'Some of this has changed since, so nothing was undone.' },
  LAST_ADMIN: { status: 409, message: 'The last admin can be neither removed nor made a user.' },
  LAST_OWNER: { status: 409, message: 'The last owner can neither be removed nor get another role.' },
  NOT_YOURSELF: { status: 409, message: 'You cannot remove yourself or change your own role.' },
  STALE: {
    status: 409,
    message: 'Somebody else has changed this meanwhile. Your text is kept; look at the new version before you save.',
  },
  SETUP_LINK_INVALID: { status: 403, message: 'This set-up link has expired or was used already.' },
  NOT_BY_LINK: { status: 409, message: 'Change your own password under Your Account.' },
  PASSWORD_LINK_INVALID: { status: 403, message: 'This link has expired or was used already. Ask an admin for a new one.' },
  NO_SUCH_INVITATION: { status: 404, message: 'This invitation was used or ended meanwhile.' },
  INVITATION_INVALID: {
    status: 403,
    message: 'This invitation has expired, was used already or was ended. Ask the person who invited you for a new one.',
  },
  EMAIL_LINK_INVALID: { status: 403, message: 'This link has expired, or the change was made or cancelled already.' },
  SAME_EMAIL: { status: 409, message: 'This is your e-mail address already.' },
  MAIL_OFF: {
    status: 409,
    message: 'The console cannot send mails. It needs SMTP_URL and a new start of the server.',
  },
  LINK_CODE_INVALID: { status: 403, message: 'This code has expired or was used already. Make a new one at Your Account.' },
  SECOND_FACTOR_NEEDED: { status: 403, message: 'The password is right. Now prove your second factor.' },
  STEP_UP_NEEDED: { status: 403, message: 'Prove your second factor again before you do this.' },
  WRONG_CODE: { status: 403, message: 'This code is wrong or was used already.' },
  SIGN_IN_EXPIRED: { status: 403, message: 'This sign-in has expired. Please enter your password again.' },
  NO_SECOND_FACTOR: { status: 409, message: 'There is no second factor to prove or remove.' },
  TOTP_NOT_BEGUN: { status: 409, message: 'This set-up has expired. Please begin again with a new QR code.' },
  TOTP_UNREADABLE: {
    status: 409,
    message: 'The server cannot read the secret of this app: its SECRET_KEY has changed. Use a recovery code, or ask an owner.',
  },
  PASSKEY_REFUSED: { status: 403, message: 'This passkey was not accepted. Please try again, or sign in another way.' },
  PASSKEY_KNOWN: { status: 409, message: 'This passkey is known already.' },
  NO_SUCH_PASSKEY: { status: 404, message: 'This passkey does not exist any more.' },
  TOO_MANY_PASSKEYS: {
    status: 409,
    message: `You have ${MAX_PASSKEYS} passkeys. Please remove one before you add another.`,
  },
  PASSKEYS_OFF: {
    status: 409,
    message: 'Passkeys need a host name and https: open the console by its https address, or as localhost on its own machine.',
  },
  OIDC_OFF: {
    status: 409,
    message: 'This console has no sign-in service. It needs OIDC_CLIENT_ID and a new start of the server.',
  },
  OIDC_EXPIRED: {
    status: 403,
    message: 'This sign-in has expired, was used already, or was begun in another browser. Please try again.',
  },
  OIDC_REFUSED: {
    status: 403,
    message: 'What the sign-in service said was not accepted. Please try again, or use your password.',
  },
  OIDC_UNREACHABLE: {
    status: 502,
    message: 'The sign-in service does not answer as it should. Please try again later, or use your password.',
  },
  OIDC_NOT_LINKED: {
    status: 403,
    message: 'This account is not linked to an account here. Sign in with your password and link it under Your Account.',
  },
  OIDC_LINKED: { status: 409, message: 'Your account is linked already. Unlink it before you link another one.' },
  OIDC_TAKEN: { status: 409, message: 'This account is linked to the account of somebody else here.' },
  OIDC_NO_LINK: { status: 404, message: 'Your account is not linked any more.' },
  TOO_MANY_ATTEMPTS: { status: 429, message: 'Too many attempts. Please wait a little and try again.' },
  TOO_MANY_STREAMS: { status: 429, message: 'Too many pages are being kept up to date at once. Please close some.' },

  // Errors of the HTTP layer
  BUSY: { status: 429, message: 'Too many of your requests are waiting already. Please try again in a moment.' },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    message:
      'This was saved before, with other values (its Idempotency-Key is the same). Look at what there is before you send it again.',
  },
  INVALID_INPUT: { status: 400, message: 'The request is not valid.' },
  SIGNED_OUT: { status: 401, message: 'Please sign in.' },
  FORBIDDEN: { status: 403, message: 'You are not allowed to do this.' },
  UNKNOWN_HOST: {
    status: 421,
    message:
      'This server does not answer for this host name. If it is the console’s own, set PUBLIC_URL to the URL that browsers use.',
  },
  CROSS_ORIGIN: { status: 403, message: 'This request came from another web site.' },
  NOT_FOUND: { status: 404, message: 'There is nothing here.' },
  METHOD_NOT_ALLOWED: { status: 405, message: 'This method is not supported here.' },
  TOO_SLOW: { status: 408, message: 'The request took too long to arrive.' },
  TOO_LARGE: { status: 413, message: 'The request is too large.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, message: 'The request must be JSON (application/json).' },
  INTERNAL: { status: 500, message: 'Internal Server Error!' },
  UNAVAILABLE: { status: 503, message: 'The database is not available right now. Please try again in a moment.' },
  DISK_FULL: { status: 507, message: 'The disk is full: nothing was saved. Reading still works.' },
} as const satisfies Record<string, { status: number; message: string }>

export type ErrorCode = keyof typeof errorCatalogue

/** The body of every failed call. Some calls of §7 add a field that their callers compare (`status`, `success`). */
export interface ErrorBody {
  success: false | 'failed'
  status?: 'failed'
  message: string
  /** §8: failures of announcement create, update, delete and toggle have the text here as well. */
  error?: string
  code: ErrorCode
  /** Identifies the request in the server's log. */
  requestId?: string
  /** A message for each invalid field, by its name in the API. */
  fields?: Record<string, string>
  /** The amount that the cause's cap still allows the player today (CAP_REACHED), or the most that a role may do now (LIMIT_REACHED). */
  left?: number
  /** What the second factor can be proved with (SECOND_FACTOR_NEEDED, STEP_UP_NEEDED). */
  methods?: readonly SecondFactorMethod[]
  /** Seconds to wait before the next attempt (429, 503). */
  retryAfterSeconds?: number
}
