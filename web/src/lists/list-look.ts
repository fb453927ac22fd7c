/**
 * How a list's table looks: as its address says, or else as this browser remembers it. Then the address comes to say it, too, so that a
 * copied one shows the same columns to somebody else.
 */
import type { List } from '@arcade/contract/entity'
import { useEffect, useEffectEvent, useState } from 'react'
import { type ChangeableLook, type TableLook, useTableLook } from './table-view.ts'
import { lookAddress, readLook } from './list-address.ts'
import type { ListState } from './use-list.ts'

const PLAIN: TableLook = { changed: [], isCompact: false }

/** Somebody else's look, which only the address has, is changed in the address alone. */
export function useListLook<L extends List, Row>(label: string, { address, changeLook }: ListState<L, Row>): ChangeableLook {
  const remembered = useTableLook(label)
  const named = readLook(address)
  const text = named && lookText(named)
  const isSame = text === undefined || text === lookText(remembered)
  /** An own look stays one while the address follows a change of it. */
  const [known, setKnown] = useState({ text, isOwn: isSame })
  if (known.text !== text) setKnown({ text, isOwn: isSame })
  const isOwn = known.text === text ? known.isOwn : isSame

  const own = lookText(remembered)
  const unsaid = isOwn && (text ?? lookText(PLAIN)) !== own ? own : undefined
  const say = useEffectEvent(() =>
    changeLook(own === lookText(PLAIN) ? { rows: undefined, columns: undefined } : lookAddress(remembered)),
  )
  useEffect(() => {
    if (unsaid !== undefined) say()
  }, [unsaid])

  if (isOwn || !named) return remembered
  return { ...named, change: (next) => changeLook(lookAddress(next)) }
}

function lookText(look: TableLook): string {
  return Object.values(lookAddress(look)).join(' ')
}
