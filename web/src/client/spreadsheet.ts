/** Downloads (§7): spreadsheets with their progress, and stored files. */
import { contractRoutes } from 'virtual:contract-routes'
import { fromBody } from './call-error.ts'
import { client, reportFailure, isJson } from './client.ts'
import { randomUuid } from './uuid.ts'

export interface DownloadProgress {
  bytes: number
  /** Rows written so far, of `total`; absent until the server reports them. */
  rows?: number | undefined
  total?: number | undefined
}

const PROGRESS_EVERY_MS = 1000

type Downloads = typeof client.downloads
type SheetName = Exclude<keyof Downloads, 'progress'>

/**
 * Fetches a spreadsheet as a stream. `fallbackName` is the file name if the answer has no content-disposition (§7).
 * @throws CallError, or an AbortError once `signal` is aborted
 */
export async function fetchSpreadsheet<Name extends SheetName>(
  name: Name,
  input: Omit<Parameters<Downloads[Name]>[0] & object, 'exportId'>,
  options: { fallbackName: string; signal: AbortSignal; onProgress: (progress: DownloadProgress) => void },
): Promise<{ blob: Blob; fileName: string }> {
  const exportId = randomUuid()
  const progress: DownloadProgress = { bytes: 0 }
  const report = (change: Partial<DownloadProgress>) => options.onProgress({ ...Object.assign(progress, change) })
  const timer = setInterval(() => {
    client.downloads.progress({ exportId }, { signal: options.signal }).then(report, () => {}) // the download itself reports failures
  }, PROGRESS_EVERY_MS)
  try {
    const response = await requestSheet(name, { ...input, exportId }, options.signal)
    const blob = await readBlob(response, (bytes) => report({ bytes }))
    return { blob, fileName: parseFileName(response.headers.get('content-disposition')) ?? options.fallbackName }
  } catch (error) {
    throw reportFailure(error)
  } finally {
    clearInterval(timer)
  }
}

async function requestSheet(name: SheetName, input: object, signal: AbortSignal): Promise<Response> {
  const { method = 'GET', path = '' } = contractRoutes.downloads[name]['~orpc'].route
  const hasBody = method !== 'GET'
  const query = hasBody ? '' : `?${new URLSearchParams(Object.entries(input)).toString()}`
  const body = hasBody ? { body: JSON.stringify(input), headers: { 'content-type': 'application/json' } } : {}
  const response = await fetch(`${path}${query}`, { method, signal, ...body })
  // §7: a failed download may answer with an object (`status: 'failed'` and a message) instead of a spreadsheet.
  if (!response.ok || isJson(response)) throw fromBody(await response.json().catch(() => undefined), response.status)
  return response
}

async function readBlob(response: Response, onBytes: (bytes: number) => void): Promise<Blob> {
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let bytes = 0
  for (const reader = response.body?.getReader(); reader;) {
    const { done, value } = await reader.read()
    if (done) break
    chunks.push(value)
    bytes += value.byteLength
    onBytes(bytes)
  }
  return new Blob(chunks, { type: response.headers.get('content-type') ?? '' })
}

/** Fetches a stored file to upload it again as `name`, because a copied item needs files of its own. @throws CallError */
export async function fetchStoredFile(url: string, name: string): Promise<File> {
  try {
    const response = await fetch(url)
    if (!response.ok) throw fromBody(await response.json().catch(() => undefined), response.status)
    return new File([await response.blob()], name)
  } catch (error) {
    throw reportFailure(error)
  }
}

/** Returns the file name in a content-disposition header (RFC 6266), without folders. `filename*` takes precedence over `filename`. */
export function parseFileName(header: string | null): string | undefined {
  const extended = /filename\*\s*=\s*utf-8'[^']*'([^;\s]+)/i.exec(header ?? '')?.[1]
  const plain = /filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(header ?? '')
  const name = decoded(extended) ?? plain?.[1]?.replaceAll(/\\(.)/g, '$1') ?? plain?.[2]
  return name?.replaceAll(/^.*[/\\]/g, '') || undefined
}

function decoded(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text)
  } catch {
    return undefined
  }
}
