/** Sends the message of an announcement to one's own linked Telegram account. */
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, client } from '#src/client/client.ts'
import { showFailure } from '#src/lists/item-acts.ts'
import { LinkButton } from '#src/ui/link-button.tsx'
import { toast } from '#src/ui/toast.tsx'

/** Without a linked account, it leads to where one is linked. */
export function TestButton({ announcementId }: { announcementId: string | undefined }) {
  const { data } = useQuery(api.account.telegram.queryOptions())
  const [isBusy, setIsBusy] = useState(false)
  if (data?.telegram === null)
    return (
      <LinkButton to="/account" variant="default" title="The test is sent to your own Telegram account">
        Link Telegram to test
      </LinkButton>
    )
  const isOff = announcementId === undefined
  const handleTest = async () => {
    if (isBusy || announcementId === undefined) return
    setIsBusy(true)
    try {
      await client.broadcasts.testAnnouncement({ announcementId })
      toast.success('The test is in your Telegram.')
    } catch (cause) {
      showFailure(cause)
    } finally {
      setIsBusy(false)
    }
  }
  return (
    <Button
      variant="default"
      aria-disabled={isBusy || isOff || undefined}
      data-disabled={isOff}
      title={isOff ? 'Choose an announcement first' : undefined}
      onClick={() => void handleTest()}
    >
      Send a test to me
    </Button>
  )
}
