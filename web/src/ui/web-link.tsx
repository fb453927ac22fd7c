/** A stored link, without the invisible characters that links of earlier versions may have. http(s) links open in a new tab; anything else, such as an imported `javascript:…`, is shown as text. */
import { withoutInvisible } from '@arcade/contract/text'
import { Anchor } from '@mantine/core'

export function WebLink({ link: stored, className = '' }: { link: string; className?: string | undefined }) {
  const link = withoutInvisible(stored)
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
