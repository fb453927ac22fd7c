/** A stored link. http(s) links open in a new tab; anything else, such as an imported `javascript:…`, is shown as text. */
import { Anchor } from '@mantine/core'

export function WebLink({ link, className = '' }: { link: string; className?: string | undefined }) {
  if (!/^https?:\/\//i.test(link))
    return (
      <span className={className} title={link}>
        {link}
      </span>
    )
  return (
    <Anchor href={link} target="_blank" rel="noreferrer noopener" className={className} title={link}>
      {link}
    </Anchor>
  )
}
