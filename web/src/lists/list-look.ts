/**
 * The look of a list's table: from the address, otherwise the look that this browser stores. A stored look is also written to the address,
 * so that a copied link shows the same columns.
 */
import type { List } from '@arcade/contract/entity'
import { useEffect, useEffectEvent, useState } from 'react'
import { type ChangeableLook, type TableLook, useTableLook } from './table-look.ts'
import { lookAddress, readLook } from './list-address.ts'
import type { ListState } from './use-list.ts'

const PLAIN: TableLook = { changed: [], isCompact: false }

/** A look that comes only from the address, such as in a link from somebody else, is changed in the address and not stored. */
export function useListLook<L extends List, Row>(label: string, { address, changeLook }: ListState<L, Row>): ChangeableLook {
  const remembered = useTableLook(label)
  const named = readLook(address)
  const text = named && lookText(named)
  const isSame = text === undefined || text === lookText(remembered)
  /** The stored look stays the current one until the address has been updated after a change. */
  const [known, setKnown] = useState({ text, isOwn: isSame })
  if (known.text !== text) setKnown({ text, isOwn: isSame })
  const isOwn = known.text === text ? known.isOwn : isSame

  const own = lookText(remembered)
  const missing = isOwn && (text ?? lookText(PLAIN)) !== own ? own : undefined
  const updateAddress = useEffectEvent(() =>
    changeLook(own === lookText(PLAIN) ? { rows: undefined, columns: undefined } : lookAddress(remembered)),
  )
  useEffect(() => {
    if (missing !== undefined) updateAddress()
  }, [missing])

  if (isOwn || !named) return remembered
  return { ...named, change: (next) => changeLook(lookAddress(next)) }
}

function lookText(look: TableLook): string {
  return Object.values(lookAddress(look)).join(' ')
}
