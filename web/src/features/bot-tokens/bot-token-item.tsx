/** One bot token of the list. */
import type { BotToken } from '@arcade/contract/bot-tokens/calls'
import { botScopes } from '@arcade/contract/bot-tokens/fields'
import { Button } from '@mantine/core'
import { Facts, Item } from '#src/ui/item-list.tsx'
import { Moment } from '#src/ui/moment.tsx'

interface Props {
  token: BotToken
  onRotate: () => void
  onEndPrevious: () => void
  onRevoke: () => void
}

export function BotTokenItem({ token: { name, scope, createdAt, rotatedAt, lastUsedAt, previous }, ...on }: Props) {
  return (
    <Item
      name={name}
      badge={botScopes[scope].label}
      buttons={
        <>
          <Button variant="default" size="compact-md" aria-label={`Rotate ${name}`} onClick={on.onRotate}>
            Rotate
          </Button>
          {previous && (
            <Button variant="default" size="compact-md" aria-label={`End Old Token, ${name}`} onClick={on.onEndPrevious}>
              End Old Token
            </Button>
          )}
          <Button variant="default" size="compact-md" aria-label={`Revoke ${name}`} onClick={on.onRevoke}>
            Revoke
          </Button>
        </>
      }
    >
      <Facts>
        Made <Moment iso={createdAt} />
        {rotatedAt && (
          <>
            , rotated <Moment iso={rotatedAt} />
          </>
        )}
      </Facts>
      <LastUse at={lastUsedAt} />
      {previous && <LastUse at={previous.lastUsedAt} of="Old token, which still works: " />}
    </Item>
  )
}

function LastUse({ at, of = '' }: { at: string | null; of?: string }) {
  return (
    <Facts>
      {of}
      {at === null ? (
        `${of === '' ? 'Never' : 'never'} used`
      ) : (
        <>
          {of === '' ? 'Last' : 'last'} used <Moment iso={at} />
        </>
      )}
    </Facts>
  )
}
