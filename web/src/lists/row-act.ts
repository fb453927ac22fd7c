/** An act on one row of a list, as every button in a row runs it. */
import type { ListName } from '@arcade/contract/lists'
import { asCallError, type CallError } from '#src/client.ts'
import { markBusy } from '#src/ui/table-rows.ts'
import { refreshAfterActOn } from './changes.ts'

/**
 * The row is busy until the list, loaded again, shows what has become of it.
 * @param button in the row; an act that was started elsewhere has none
 */
export async function actOnRow(
  list: ListName,
  button: Element | undefined,
  { act, onFailure }: { act: () => Promise<void>; onFailure: (error: CallError) => void },
): Promise<void> {
  const endBusy = markBusy(button ?? null)
  try {
    await act()
  } catch (cause) {
    onFailure(asCallError(cause))
    endBusy()
  }
  await refreshAfterActOn(list)
  endBusy('is loaded')
}
