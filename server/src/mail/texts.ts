/** The texts of all mails that the console sends. `letter.ts` turns them into plain text and HTML; nothing here is HTML. */
import { isolated } from '@arcade/contract/text'
import { type Role, roleLabels } from '@arcade/contract/team/fields'

/** What stands in a mail. Each paragraph is one line of text; names in it are already isolated. */
export interface Letter {
  subject: string
  paragraphs: readonly string[]
  /** The one link of a mail, and what its button says. The address begins at the console's own origin. */
  link?: { label: string; path: string }
}

/** Where an act came from. */
export interface From {
  /** Such as `Chrome on Windows`; empty if the client says nothing. */
  device: string | null
  address: string | null
}

/** What each kind of mail says. */
export type Content =
  | { kind: 'invitation'; by: string; role: Role | null; path: string }
  | { kind: 'forgottenPassword'; path: string }
  | { kind: 'confirmEmail'; path: string }
  | { kind: 'changedEmail'; newEmail: string; path: string }
  | { kind: 'newDevice'; act: From }
  | { kind: 'roleChange'; role: Role | null }
  | { kind: 'newPassword'; act: From }
  | { kind: 'newPasskey'; name: string; act: From }
  | { kind: 'endedPasskey'; name: string; act: From }
  | { kind: 'signInLink'; service: string; change: 'linked' | 'unlinked'; act: From }
  | { kind: 'secondFactor'; change: 'on' | 'off' | 'codes' | 'reset'; act: From }
export type MailKind = Content['kind']

const HOUR = 60
const DAY = 24 * HOUR

/** For how many minutes a mail is of use. After that it is not tried again; none is tried for longer than a day. */
export const usefulMinutes: Readonly<Record<MailKind, number>> = {
  invitation: DAY,
  forgottenPassword: HOUR,
  confirmEmail: DAY,
  changedEmail: DAY,
  newDevice: DAY,
  roleChange: DAY,
  newPassword: DAY,
  newPasskey: DAY,
  endedPasskey: DAY,
  signInLink: DAY,
  secondFactor: DAY,
}

const NOT_YOU = 'If this was not you, change your password and end your other sessions under Your Account, and tell an owner.'

type Letters = { [Kind in MailKind]: (content: Extract<Content, { kind: Kind }>) => Letter }

const letters: Letters = {
  invitation: ({ by, role, path }) => ({
    subject: 'You are invited to the Arcade Console',
    paragraphs: [
      `${isolated(by)} invites you to the Arcade Console${role ? ` as ${roleLabels[role]}` : ''}.`,
      'The link makes your account. It works once, within 72 hours.',
      'If you do not know what this is about, do nothing: there is no account then.',
    ],
    link: { label: 'Accept the Invitation', path },
  }),
  forgottenPassword: ({ path }) => ({
    subject: 'Set a new password',
    paragraphs: [
      'Somebody asked for a new password for your account of the Arcade Console.',
      'The link sets one. It works once, within an hour.',
      'If you did not ask, do nothing: your password stays as it is.',
    ],
    link: { label: 'Set a New Password', path },
  }),
  confirmEmail: ({ path }) => ({
    subject: 'Confirm your new e-mail address',
    paragraphs: [
      'Somebody wants to use this e-mail address for an account of the Arcade Console.',
      'Confirm it with the link, within a day. The present address of the account must confirm it, too.',
      'If you did not ask for this, do nothing: the address is not used then.',
    ],
    link: { label: 'Confirm This Address', path },
  }),
  changedEmail: ({ newEmail, path }) => ({
    subject: 'Your e-mail address is about to change',
    paragraphs: [
      `Somebody asked to change the e-mail address of your account of the Arcade Console to ${isolated(newEmail)}.`,
      'The link confirms the change or cancels it, within a day. Nothing changes until both addresses have confirmed.',
      'If this was not you, cancel it and change your password: somebody knows it.',
    ],
    link: { label: 'Confirm or Cancel the Change', path },
  }),
  newDevice: ({ act }) => ({
    subject: 'A sign-in from a new device',
    paragraphs: [`Somebody signed in to your account of the Arcade Console ${fromWhere(act)}.`, NOT_YOU],
  }),
  roleChange: ({ role }) => ({
    subject: 'Your role has changed',
    paragraphs: [
      role
        ? `Your role in the Arcade Console is ${roleLabels[role]} now. Please sign in again.`
        : 'You have no role in the Arcade Console any more: your account is of the type User now.',
    ],
  }),
  newPassword: ({ act }) => ({
    subject: 'Your password has changed',
    paragraphs: [
      `The password of your account of the Arcade Console was set ${fromWhere(act)}.`,
      'If this was not you, tell an owner, who can make you a link to set another one.',
    ],
  }),
  newPasskey: ({ name, act }) => ({
    subject: 'A new passkey',
    paragraphs: [`The passkey ${isolated(name)} was added to your account of the Arcade Console ${fromWhere(act)}.`, NOT_YOU],
  }),
  endedPasskey: ({ name, act }) => ({
    subject: 'A passkey was removed',
    paragraphs: [`The passkey ${isolated(name)} was removed from your account of the Arcade Console ${fromWhere(act)}.`, NOT_YOU],
  }),
  signInLink: ({ service, change, act }) => ({
    subject: change === 'linked' ? `Sign-in with ${isolated(service)} is set up` : `Sign-in with ${isolated(service)} has ended`,
    paragraphs: [
      change === 'linked'
        ? `A ${isolated(service)} account was linked ${fromWhere(act)}: it signs in to your account of the Arcade Console from now on.`
        : `The ${isolated(service)} account that signed in to your account of the Arcade Console was unlinked ${fromWhere(act)}.`,
      NOT_YOU,
    ],
  }),
  secondFactor: ({ change, act }) => ({
    subject: 'Your second factor has changed',
    paragraphs: [`${factorChanges[change]}${change === 'reset' ? '' : ` ${fromWhere(act)}`}.`, NOT_YOU],
  }),
}

export function letterOf(content: Content): Letter {
  return (letters[content.kind] as (of: Content) => Letter)(content)
}

const factorChanges = {
  on: 'A second factor was set up for your account of the Arcade Console',
  off: 'The second factor of your account of the Arcade Console was removed',
  codes: 'New recovery codes were made for your account of the Arcade Console',
  reset: 'The second factor of your account of the Arcade Console was removed by somebody who runs it',
} as const

/** Returns where an act came from, in words. */
function fromWhere({ device, address }: From): string {
  const where = device ? `with ${isolated(device)}` : 'with an unknown browser'
  return address ? `${where} from the address ${address}` : where
}
