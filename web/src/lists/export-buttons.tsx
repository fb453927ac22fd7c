/** Spreadsheets of a list: of all its rows (§7), or of the ones picked. */
import type { List } from '@arcade/contract/entities/entity'
import type { ListName } from '@arcade/contract/entities/lists'
import { asCallError, fetchSpreadsheet } from '#src/client.ts'
import { DownloadButton } from '#src/ui/download.tsx'
import type { Selection } from '#src/ui/selection.tsx'

const texts = {
  successText: 'Data Downloaded Successfuly!', // sic, §8
  failureText: (problem: unknown): string => {
    const { code, message } = asCallError(problem)
    return code === 'UNAVAILABLE' ? message : 'Error Downloading Data!'
  },
}

/** All rows of the list, whatever its page shows. */
export function ExportAllButton({ list, call }: { list: List; call: 'users' | 'players' }) {
  return (
    <DownloadButton
      id={list.name}
      label="Download User Data"
      start={(options) => fetchSpreadsheet(call, {}, { ...options, fallbackName: list.fileName })}
      {...texts}
    />
  )
}

interface ExportSelectionProps {
  list: List & { name: ListName }
  selection: Selection
}

export function ExportSelectionButton({ list, selection: { target } }: ExportSelectionProps) {
  // The target is one of this list's, which the type of a list in general does not tell.
  const input = { list: list.name, target } as Parameters<typeof fetchSpreadsheet<'selection'>>[1]
  return (
    <DownloadButton
      id={`${list.name} selection`}
      label="Download Selection"
      size="compact-md"
      start={(options) => fetchSpreadsheet('selection', input, { ...options, fallbackName: list.fileName })}
      {...texts}
    />
  )
}
