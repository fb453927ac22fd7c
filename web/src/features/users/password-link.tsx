/** Makes a link with which a user sets a new password. The admin who makes the link sees it once. */
import type { DashboardUser } from '@arcade/contract/users/fields'
import { isolated } from '@arcade/contract/text'
import { Button, TextInput } from '@mantine/core'
import { useState } from 'react'
import { api, client, queryClient } from '#src/client/client.ts'
import { showFailure } from '#src/lists/item-acts.ts'
import { CopyButton } from '#src/ui/copy-button.tsx'
import { Moment } from '#src/ui/moment.tsx'
import classes from './update-user-page.module.css'

export interface NewPasswordLink {
  address: string
  expiresAt: string
}

interface PasswordLinkProps {
  user: DashboardUser
  /** The new link, which only this page knows. */
  link: NewPasswordLink | undefined
  onMake: (link: NewPasswordLink) => void
}

export function PasswordLink({ user: { id, fname }, link, onMake }: PasswordLinkProps) {
  const [isBusy, setIsBusy] = useState(false)

  const handleMake = async () => {
    if (isBusy) return
    setIsBusy(true)
    try {
      const { path, expiresAt } = await client.account.createPasswordLink({ id })
      onMake({ address: `${location.origin}${path}`, expiresAt })
      await queryClient.invalidateQueries({ queryKey: api.account.passwordLinks.key() })
    } catch (cause) {
      showFailure(cause)
    } finally {
      setIsBusy(false)
    }
  }

  return (
    <>
      <div className={classes['row']}>
        <p>
          <strong>Password</strong>
          <br />
          Make a link with which {isolated(fname)} sets a new one, also if there is none yet after an import. It works once,
          within a day, and ends all sessions of {isolated(fname)}. It ends early if the password or role of {isolated(fname)} or
          yours changes.
        </p>
        <Button variant="default" onClick={() => void handleMake()}>
          {link ? 'Make Another Link' : 'Make Password Link'}
        </Button>
      </div>
      <div aria-live="polite">
        {link && (
          <div className={classes['link']}>
            <TextInput
              label="Password Link"
              value={link.address}
              readOnly
              onFocus={(event) => event.currentTarget.select()}
              rightSection={<CopyButton label="Password Link" text={link.address} />}
            />
            <p>
              Good until <Moment iso={link.expiresAt} />. It is not shown again; anybody who has it can set the password.
            </p>
          </div>
        )}
      </div>
    </>
  )
}
