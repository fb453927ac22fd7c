/** Runs an act on one row of a list, from any button in the row. */
import type { ListName } from '@arcade/contract/lists'
import { asCallError, type CallError } from '#src/client/call-error.ts'
import { markBusy } from '#src/ui/table-rows.ts'
import { refreshAfterActOn } from './changes.ts'

/**
 * Marks the row as busy, runs the act, then reloads the list.
 * @param button a button in the row; undefined if the act was started elsewhere
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
  endBusy({ afterPaint: true })
}
