/** The role of the signed-in admin: what it is for, whether it sees personal fields of players, and the most that it may move at once. */
import type { OwnLimits } from '@arcade/contract/team/calls'
import { roleLabels } from '@arcade/contract/team/fields'
import { roleDescriptions } from '@arcade/contract/team/permissions'
import { useQuery } from '@tanstack/react-query'
import { api } from '#src/client/client.ts'
import { mayDo, useSession } from '#src/session.tsx'
import { counted, exactly } from '#src/ui/numbers.ts'
import { PanelText } from '#src/ui/page.tsx'
import classes from './account.module.css'

export function OwnRole() {
  const { user } = useSession()
  const { data } = useQuery(api.team.ownLimits.queryOptions({ enabled: user?.lacksSecondFactor === false, staleTime: 0 }))
  if (!user?.role) return null
  const facts = [
    ...(mayDo(user, 'players.personal') || !mayDo(user, 'players.read') ? [] : [WITHHELD]),
    ...(data ? limitTexts(data) : []),
  ]
  return (
    <>
      <p className={classes['role']}>
        <strong>{roleLabels[user.role]}</strong>. {roleDescriptions[user.role]}
      </p>
      {facts.length > 0 && (
        <ul className={classes['facts']} aria-label="Limits of your role">
          {facts.map((fact) => (
            <li key={fact}>{fact}</li>
          ))}
        </ul>
      )}
      {user.role !== 'owner' && <PanelText>Owners give roles and decide what they may do.</PanelText>}
    </>
  )
}

const WITHHELD = 'E-mail addresses, phone numbers, handles and wallets of players are withheld.'

function limitTexts({ maxAdjustment, maxAdjustedDaily, maxBulk, leftToday }: OwnLimits): string[] {
  return [
    ...(maxAdjustment === null ? [] : [`At most ${exactly(maxAdjustment)} points in one adjustment.`]),
    ...(maxAdjustedDaily === null
      ? []
      : [
          `At most ${exactly(maxAdjustedDaily)} points adjusted in a day, of which ${exactly(leftToday ?? 0)} are left today (UTC).`,
        ]),
    ...(maxBulk === null ? [] : [`At most ${counted(maxBulk, 'record')} in one bulk act.`]),
  ]
}
