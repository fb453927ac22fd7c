/** A download button. A running download shows its progress and Cancel instead of the button, also after leaving the page and returning. */
import { Button, Progress } from '@mantine/core'
import { IconChevronDown, IconDownload } from '@tabler/icons-react'
import { useEffect, useId, useRef, useState, useSyncExternalStore } from 'react'
import { Pane } from './pane.tsx'
import { toast } from './toast.tsx'
import classes from './download.module.css'
import { formatted } from './numbers.ts'

interface DownloadProgress {
  bytes: number
  /** Rows written by the server so far, of `total`. */
  rows?: number | undefined
  total?: number | undefined
}

type Start = (options: {
  signal: AbortSignal
  onProgress: (progress: DownloadProgress) => void
}) => Promise<{ blob: Blob; fileName: string }>

interface DownloadProps {
  label: string
  /** Identifies the download; by default its label. Needed if two buttons have the same label. */
  id?: string
  start: Start
  /** Other downloads, in a menu beside the button. */
  others?: readonly { label: string; start: Start }[]
  /** The amount to be downloaded, shown beside the button. */
  note?: string | undefined
  successText: string
  /** The toast of a failed download, or a function that returns it for the error. */
  failureText: string | ((error: unknown) => string)
  disabled?: boolean
  size?: 'compact-sm'
}

interface Running {
  abort: AbortController
  progress: DownloadProgress
}

const running = new Map<string, Running>()
const listeners = new Set<() => void>()

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function update(id: string, state: Running | undefined): void {
  if (state) running.set(id, state)
  else running.delete(id)
  for (const listener of listeners) listener()
}

export function DownloadButton(props: DownloadProps) {
  const { label, id = label, disabled = false, size, others = [], note } = props
  const noteId = useId()
  const state = useSyncExternalStore(subscribe, () => running.get(id))
  const container = useRef<HTMLDivElement>(null)
  const isStarter = useRef(false)
  const isRunning = state !== undefined
  const handleStart = (started: DownloadProps) => {
    isStarter.current = true
    void download(started)
  }

  // The pressed button disappears, and later Cancel does. The focus moves to what replaces it.
  useEffect(() => {
    if (!isStarter.current) return
    if (document.activeElement === document.body) container.current?.querySelector('button')?.focus()
    if (!isRunning) isStarter.current = false
  }, [isRunning])

  if (!state) {
    return (
      <div ref={container} className={classes['offer']}>
        {note !== undefined && (
          <span id={noteId} className={classes['amount']}>
            {note}
          </span>
        )}
        <Button.Group>
          <Button
            variant="default"
            {...(size && { size })}
            disabled={disabled}
            aria-describedby={note === undefined ? undefined : noteId}
            onClick={() => handleStart(props)}
          >
            <IconDownload size={18} aria-hidden className={classes['icon']} />
            <span className={classes['label']}>{label}</span>
          </Button>
          {others.length > 0 && <OtherDownloads {...props} others={others} onStart={handleStart} />}
        </Button.Group>
      </div>
    )
  }
  const { bytes, rows, total } = state.progress
  const share = rows !== undefined && total ? Math.min(100, (rows / total) * 100) : undefined
  return (
    <div ref={container} className={classes['running']}>
      <div className={classes['progress']}>
        <Progress value={share ?? 100} animated={share === undefined} aria-label={label} size="sm" />
        <span className={classes['amount']}>
          {describe({ bytes, ...(rows !== undefined && { rows }), ...(total && { total }) })}
        </span>
      </div>
      <Button variant="default" {...(size && { size })} onClick={() => state.abort.abort()}>
        Cancel
      </Button>
    </div>
  )
}

interface OtherDownloadsProps extends DownloadProps {
  others: NonNullable<DownloadProps['others']>
  onStart: (download: DownloadProps) => void
}

function OtherDownloads({ others, onStart, ...props }: OtherDownloadsProps) {
  const [isOpen, setIsOpen] = useState(false)
  const { size, disabled = false } = props
  return (
    <Pane
      isOpen={isOpen}
      onChange={setIsOpen}
      position="bottom-end"
      title="More exports"
      isUntitled
      className={classes['others']}
      button={{
        px: 'xs',
        ...(size && { size }),
        disabled,
        'aria-label': 'More exports',
        children: <IconChevronDown size={16} aria-hidden />,
      }}
    >
      {others.map((other) => (
        <Button
          key={other.label}
          variant="subtle"
          justify="flex-start"
          onClick={() => {
            setIsOpen(false)
            onStart({ ...props, start: other.start })
          }}
        >
          {other.label}
        </Button>
      ))}
    </Pane>
  )
}

async function download({ label, id = label, start, successText, failureText }: DownloadProps): Promise<void> {
  if (running.has(id)) return
  const abort = new AbortController()
  update(id, { abort, progress: { bytes: 0 } })
  try {
    const onProgress = (progress: DownloadProgress) => running.has(id) && update(id, { abort, progress })
    const { blob, fileName } = await start({ signal: abort.signal, onProgress })
    save(blob, fileName)
    toast.success(successText)
  } catch (error) {
    if (!abort.signal.aborted) toast.failure(typeof failureText === 'string' ? failureText : failureText(error))
  } finally {
    update(id, undefined)
  }
}

function save(blob: Blob, fileName: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = fileName
  document.body.append(link)
  link.click()
  link.remove()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000) // Safari reads the blob after the click
}

function describe({ bytes, rows, total }: DownloadProgress): string {
  if (rows !== undefined && total) return `${formatted(rows)} of ${formatted(total)} rows`
  return `${(bytes / 1e6).toLocaleString('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1 })} MB`
}
