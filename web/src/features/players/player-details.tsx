/** Who a player is, in one compact block: identity, handles and wallets (§3), each value with a button that copies it. */
import { type Player, playerFields } from '@arcade/contract/players/fields'
import { isBlank } from '@arcade/contract/text'
import { type ReactNode, useId } from 'react'
import { Missing } from '#src/lists/table-cells.tsx'
import { useMay } from '#src/session.tsx'
import { CopyButton } from '#src/ui/copy-button.tsx'
import { markedText } from '#src/ui/marked-text.tsx'
import { Moment } from '#src/ui/moment.tsx'
import classes from './player-page.module.css'
import { Waiting } from './waiting.tsx'

const MISSING = 'undefined' // sic, §3

/** The group in which each field of a player is shown; the balance is in the summary. A group shows its fields in this order. */
const groups: Record<Exclude<keyof Player, 'balance'>, 'Identity' | 'Handles' | 'Wallets'> = {
  userId: 'Identity',
  firstName: 'Identity',
  lastName: 'Identity',
  username: 'Identity',
  email: 'Identity',
  phoneNumber: 'Identity',
  createdAt: 'Identity',
  twitterUsername: 'Handles',
  instagramUsername: 'Handles',
  linkedInUsername: 'Handles',
  discordUsername: 'Handles',
  youtubeUsername: 'Handles',
  tonWalletAddress: 'Wallets',
  bscWallet: 'Wallets',
}
const fields = Object.keys(groups) as (keyof typeof groups)[]

interface PlayerDetailsProps {
  /** Undefined while it is being loaded. */
  player: Player | undefined
  /** Shown at the end. */
  children: ReactNode
}

/** Personal fields, and groups of nothing else, are left out for people who may not see them. */
export function PlayerDetails({ player, children }: PlayerDetailsProps) {
  const seesPersonal = useMay('players.personal')
  const shown = fields.filter((name) => seesPersonal || !('isPersonal' in playerFields[name]))
  const titles = (['Identity', 'Handles', 'Wallets'] as const).filter((title) => shown.some((name) => groups[name] === title))
  return (
    <div className={classes['details']}>
      {titles.map((title) => (
        <Group key={title} title={title}>
          {shown.map(
            (name) =>
              groups[name] === title && (
                <div key={name}>
                  <dt>{playerFields[name].label}</dt>
                  <dd>{player ? <Fact name={name} value={player[name]} /> : <Waiting />}</dd>
                </div>
              ),
          )}
        </Group>
      ))}
      {children}
    </div>
  )
}

function Group({ title, children }: { title: string; children: ReactNode }) {
  const id = useId()
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <dl className={classes['facts']}>{children}</dl>
    </section>
  )
}

function Fact({ name, value }: { name: keyof Player; value: string | number | null }) {
  const { label, kind } = playerFields[name]
  if (value === null || isBlank(String(value))) return <Missing text={MISSING} />
  if (kind === 'moment') return <Moment iso={String(value)} />
  return (
    <>
      <span className={classes['value']}>{markedText(String(value))}</span>
      <CopyButton label={label} text={String(value)} />
    </>
  )
}
