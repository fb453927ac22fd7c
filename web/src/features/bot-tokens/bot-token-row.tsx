/** One bot token of the table. */
import type { BotToken } from '@arcade/contract/bot-tokens/calls'
import { botScopes } from '@arcade/contract/bot-tokens/fields'
import { Button } from '@mantine/core'
import { Moment } from '#src/ui/moment.tsx'
import { Cell, RowActs, RowFacts, RowName, WideRow } from '#src/ui/wide-table.tsx'

interface Props {
  token: BotToken
  onRotate: () => void
  onEndPrevious: () => void
  onRevoke: () => void
}

export function BotTokenRow({ token: { name, scope, createdAt, rotatedAt, lastUsedAt, previous }, ...on }: Props) {
  return (
    <WideRow>
      <Cell isLong>
        <RowName>{name}</RowName>
      </Cell>
      <Cell label="Scope">{botScopes[scope].label}</Cell>
      <Cell label="Made">
        <Moment iso={createdAt} />
        {rotatedAt && (
          <RowFacts>
            Rotated <Moment iso={rotatedAt} />
          </RowFacts>
        )}
      </Cell>
      <Cell label="Last used">
        {lastUsedAt === null ? 'Never' : <Moment iso={lastUsedAt} />}
        {previous && (
          <RowFacts>
            Old token, which still works: {previous.lastUsedAt === null ? 'never used' : <Moment iso={previous.lastUsedAt} />}
          </RowFacts>
        )}
      </Cell>
      <Cell isAtEnd>
        <RowActs>
          <Button variant="default" size="compact-sm" aria-label={`Rotate ${name}`} onClick={on.onRotate}>
            Rotate
          </Button>
          {previous && (
            <Button variant="default" size="compact-sm" aria-label={`End Old Token, ${name}`} onClick={on.onEndPrevious}>
              End Old Token
            </Button>
          )}
          <Button variant="default" size="compact-sm" aria-label={`Revoke ${name}`} onClick={on.onRevoke}>
            Revoke
          </Button>
        </RowActs>
      </Cell>
    </WideRow>
  )
}
