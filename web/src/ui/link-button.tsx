/** A link that looks like a button and has its role (§2: Add User, Back, Update, …), so that it can be opened in a new tab. */
import { Button, type ButtonProps } from '@mantine/core'
import { createLink } from '@tanstack/react-router'
import type { AnchorHTMLAttributes, KeyboardEvent, Ref } from 'react'

type AnchorButtonProps = ButtonProps &
  Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof ButtonProps> & { ref?: Ref<HTMLAnchorElement> }

function AnchorButton(props: AnchorButtonProps) {
  // The router marks links to the page around this one, such as Back, as the current page.
  // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- the spec's button, yet with an address
  return <Button {...props} aria-current={undefined} component="a" role="button" onKeyDown={pressWithSpace} />
}

/** Makes a link with the role of a button react to the space bar as buttons do. */
export function pressWithSpace(event: KeyboardEvent<HTMLAnchorElement>): void {
  if (event.key !== ' ') return
  event.preventDefault()
  event.currentTarget.click()
}

export const LinkButton = createLink(AnchorButton)
