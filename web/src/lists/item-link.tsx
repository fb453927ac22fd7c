/** The name of a task or announcement in a row, as a link to where the signed-in person may open it. */
import type { HistoryKind } from '@arcade/contract/history/fields'
import { useItemHref } from './form-hrefs.ts'
import { RowLink } from './row-buttons.tsx'

export function ItemLink({ kind, id, children }: { kind: HistoryKind; id: string; children: string }) {
  const href = useItemHref()(kind, id)
  return href === undefined ? children : <RowLink href={href}>{children}</RowLink>
}
