/** A button that leads to a page (§2: Add User, Back, Update, …): named and reached as a button, opened in a new tab like a link. */
import { Button, type ButtonProps } from '@mantine/core'
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
