/** Marks what only the game's bot claims for a player, in lists of tasks and announcements. */
import { verifiedByBotTexts } from '@arcade/contract/tasks/fields'
import { IconRobot } from '@tabler/icons-react'
import { RowMark } from './row-mark.tsx'

export function markOfBot({ verifiedByBot }: { verifiedByBot: boolean }) {
  return verifiedByBot ? <RowMark icon={IconRobot} label={verifiedByBotTexts.label} /> : null
}
