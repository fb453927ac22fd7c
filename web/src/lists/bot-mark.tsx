/** Marks what only the game's bot claims for a player, in lists of tasks and announcements: an icon, because §2 lists the texts of a row. */
import { verifiedByBotTexts } from '@arcade/contract/entities/task'
import { IconRobot } from '@tabler/icons-react'
import classes from './bot-mark.module.css'

const { label } = verifiedByBotTexts

export function markOfBot({ verifiedByBot }: { verifiedByBot: boolean }) {
  if (!verifiedByBot) return null
  // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- an <img> would not take the colour of the text
  return <IconRobot size={18} stroke={1.75} role="img" aria-label={label} title={label} className={classes['mark']} />
}
