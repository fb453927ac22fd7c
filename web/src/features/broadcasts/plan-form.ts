/**
 * The form of a new broadcast. Announcement and recipients are in the page's address; the form keeps a copy, so that a draft has all that an
 * operator has chosen.
 */
import type { broadcastInput, BroadcastInput } from '@arcade/contract/broadcasts/calls'
import { MAX_HOLD_BACK_PERCENT } from '@arcade/contract/broadcasts/fields'
import type { PlayersFilter } from '@arcade/contract/players/fields'
import { useEffect } from 'react'
import { useWatch } from 'react-hook-form'
import type { z } from 'zod'
import { useDraftForm } from '#src/ui/form-draft.tsx'

/** The input of the call, which of its optional parts are in use, and the page's address without its path. */
export type PlanValues = z.input<typeof broadcastInput> & {
  isLater?: boolean
  isHeld?: boolean
  isPaid?: boolean
  address?: string
}

const DEFAULT_HOLD_BACK_PERCENT = 10

interface PlanFormProps {
  announcementId: string | undefined
  filter: PlayersFilter
  /** The page's address without its path: announcement and recipients. */
  address: string
  /** Shows another address, from a draft. */
  onAddress: (address: string) => void
}

export function usePlanForm({ announcementId, filter, address, onAddress }: PlanFormProps) {
  const form = useDraftForm(
    () =>
      import('@arcade/contract/broadcasts/calls').then((calls) => calls.broadcastInput as z.ZodType<BroadcastInput, PlanValues>),
    {
      announcementId: '',
      sendAt: '',
      endsAt: '',
      holdBack: DEFAULT_HOLD_BACK_PERCENT,
      isLater: false,
      isHeld: false,
      isPaid: false,
      address,
    },
    {
      name: 'broadcast new',
      used: ({ sendAt, endsAt, holdBack, paid, isLater, isHeld, isPaid }) => ({
        announcementId: announcementId ?? '',
        ...(Object.keys(filter).length > 0 && { filter }),
        ...(isLater && { sendAt }),
        ...(endsAt !== '' && { endsAt }),
        ...(isHeld && { holdBack }),
        ...(isPaid && { paid }),
      }),
    },
  )
  const { control, offer, setValue, getValues } = form
  useEffect(() => {
    if (getValues('address') !== address) setValue('address', address)
  }, [address, setValue, getValues])
  const handleUse = () => {
    offer?.onUse()
    onAddress(getValues('address') ?? '')
  }

  const [percent, isLater, isHeld, sendAt] = useWatch({ control, name: ['holdBack', 'isLater', 'isHeld', 'sendAt'] })
  const begins = isLater === true ? Date.parse(sendAt ?? '') : Number.NaN
  const isPercent = Number.isInteger(percent) && Number(percent) >= 1 && Number(percent) <= MAX_HOLD_BACK_PERCENT
  return {
    form: { ...form, offer: offer && { ...offer, onUse: handleUse } },
    isLater: isLater === true,
    /** When it begins; undefined for at once, or while the time is not entered. */
    begins: Number.isNaN(begins) ? undefined : begins,
    /** The percentage for the plan. */
    holdBack: isHeld === true && isPercent ? Number(percent) : 0,
  }
}
