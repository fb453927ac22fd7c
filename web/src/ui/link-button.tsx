/** A button that leads to a page (§2: Add User, Back, Update, …). Its role is button, but like a link it can be opened in a new tab. */
import { Button, type ButtonProps } from '@mantine/core'
import { IconCopyPlus } from '@tabler/icons-react'
import { createLink } from '@tanstack/react-router'
import type { AnchorHTMLAttributes, KeyboardEvent, Ref } from 'react'

type AnchorButtonProps = ButtonProps &
  Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof ButtonProps> & { ref?: Ref<HTMLAnchorElement> }

function AnchorButton(props: AnchorButtonProps) {
  // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- the spec's button, yet with an address
  return <Button {...props} component="a" role="button" onKeyDown={pressWithSpace} />
}

function pressWithSpace(event: KeyboardEvent<HTMLAnchorElement>): void {
  if (event.key !== ' ') return
  event.preventDefault()
  event.currentTarget.click()
}

export const LinkButton = createLink(AnchorButton)

/** Leads from a row to an add form that begins as a copy of it. It has an icon only, because §2 lists the texts of a row. */
export const DuplicateButton = createLink((props: Omit<AnchorButtonProps, 'children'>) => (
  <AnchorButton {...props} variant="default" size="compact-md" px="0.3rem" aria-label="Duplicate" title="Duplicate">
    <IconCopyPlus size={18} stroke={1.75} aria-hidden />
  </AnchorButton>
))
