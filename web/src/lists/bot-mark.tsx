/** Marks tasks and announcements that only the game's bot can claim for a player. */
import { verifiedByBotTexts } from '@arcade/contract/tasks/fields'
import { IconRobot } from '@tabler/icons-react'
import { RowMark } from './row-mark.tsx'

export function markOfBot({ verifiedByBot }: { verifiedByBot: boolean }) {
  return verifiedByBot ? <RowMark icon={IconRobot} label={verifiedByBotTexts.label} /> : null
}
