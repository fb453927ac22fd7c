/** `From before`: what a move-in has kept of a record that the console does not know. Renders nothing for a record without. */
import type { PageKind } from '@arcade/contract/from-before/calls'
import { useQuery } from '@tanstack/react-query'
import { api, fetchOnce } from '#src/client/client.ts'
import { mayDo, useSession } from '#src/session.tsx'
import { Panel } from '#src/ui/page.tsx'
import classes from './from-before.module.css'

/** Longer values are folded up, with their beginning shown. */
const FOLDED_CHARACTERS = 300
const BEGINNING_CHARACTERS = 80

export function FromBefore({ kind, id }: { kind: PageKind; id: string }) {
  const isAllowed = mayDo(useSession().user, 'players.personal') || kind !== 'player'
  const { data } = useQuery({ ...api.fromBefore.get.queryOptions({ input: { kind, id }, ...fetchOnce }), enabled: isAllowed })
  if (!data || data.fields.length === 0) return null
  return (
    <Panel title="From before">
      <p className={classes['note']}>{FROM_BEFORE_NOTE}</p>
      <KeptFields fields={data.fields} />
    </Panel>
  )
}

export const FROM_BEFORE_NOTE = 'Kept when the game moved in. The console does not use these fields.'

export function KeptFields({ fields }: { fields: readonly { name: string; value: string }[] }) {
  return (
    <dl className={classes['fields']}>
      {fields.map(({ name, value }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <KeptValue value={value} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

function KeptValue({ value }: { value: string }) {
  if (value === '') return <span className={classes['none']}>empty</span>
  if (value.length <= FOLDED_CHARACTERS) return value
  return (
    <details>
      <summary>{value.slice(0, BEGINNING_CHARACTERS)}…</summary>
      <div>{value}</div>
    </details>
  )
}
