/** The field for an announcement's image or icon (§5): choose a file, see its preview, clear it. The form uploads it when it is saved. */
import { fileUrl } from '@arcade/contract/announcements/fields'
import { UPLOAD_MEDIA_TYPES } from '@arcade/contract/announcements/calls'
import { shownFileName } from '@arcade/contract/text'
import { Button } from '@mantine/core'
import { type ChangeEvent, useEffect, useId, useRef, useState } from 'react'
import classes from './announcements.module.css'
import { imageProblem } from './image-check.ts'

/** A file stored on the server, a local file with the URL of its preview, or no file. */
export type ChosenFile = { key: string; name: string } | { file: File; url: string } | undefined

/** Returns the URL of the file's preview; undefined without a file. */
export function previewAddress(file: ChosenFile): string | undefined {
  return file && ('key' in file ? fileUrl(file.key) : file.url)
}

interface FileFieldProps {
  label: string
  value: ChosenFile
  onChange: (value: ChosenFile) => void
  /** Called when a file is chosen. The promise resolves once the file is checked: with the reason if it is refused, else undefined. */
  onChoosing?: (choice: Promise<string | undefined>) => void
  /** The server's message about the file. */
  error: string | undefined
}

export function FileField({ label, value, onChange, onChoosing, error }: FileFieldProps) {
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  const choice = useChoice(onChange)
  const ownUrl = value && 'url' in value ? value.url : undefined
  const problem = choice.refusal ?? error

  useEffect(() => () => URL.revokeObjectURL(ownUrl ?? ''), [ownUrl])

  const handleChange = ({ currentTarget }: ChangeEvent<HTMLInputElement>) => {
    const file = currentTarget.files?.[0]
    if (!file) return // the file dialog was cancelled: the previous file stays
    currentTarget.value = '' // otherwise choosing the same file again would fire no change event
    const checked = choice.choose(file)
    onChoosing?.(checked)
  }
  const handleClear = () => {
    choice.clear()
    input.current?.focus()
  }

  return (
    <div className={classes['field']}>
      <label htmlFor={id}>{label}</label>
      <div className={classes['chooser']}>
        <input
          ref={input}
          id={id}
          type="file"
          className={classes['input']}
          accept={UPLOAD_MEDIA_TYPES.join(',')}
          aria-describedby={`${id}-name ${id}-error`}
          aria-invalid={problem ? true : undefined}
          onChange={handleChange}
        />
        <label htmlFor={id} className={classes['choose']} aria-hidden>
          Choose File
        </label>
        {value && (
          <Button variant="default" size="compact-sm" aria-describedby={`${id}-name`} onClick={handleClear}>
            Clear
          </Button>
        )}
        <p id={`${id}-name`} className={classes['name']}>
          {value ? shownFileName('file' in value ? value.file.name : value.name) : 'No file chosen'}
        </p>
      </div>
      <FilePreview label={label} url={previewAddress(value)} />
      <p id={`${id}-error`} className={classes['error']} aria-live="polite">
        {problem}
      </p>
    </div>
  )
}

/** Checks a chosen file before `onChange` gets it. `choose` resolves with the reason if the file is refused, else with undefined. */
function useChoice(onChange: FileFieldProps['onChange']) {
  /** Why the last chosen file was refused. */
  const [refusal, setRefusal] = useState<string>()
  /** Counts choices, so that a check that ends after a newer choice is ignored. */
  const choices = useRef(0)
  return {
    refusal,
    async choose(file: File): Promise<string | undefined> {
      const choice = ++choices.current
      const found = await imageProblem(file)
      if (choice !== choices.current) return undefined // another one was chosen meanwhile
      setRefusal(found)
      if (found === undefined) onChange({ file, url: URL.createObjectURL(file) })
      return found
    },
    clear() {
      choices.current += 1
      setRefusal(undefined)
      onChange(undefined)
    },
  }
}

/** Shows the chosen image. Shows nothing without an image, or if it cannot be loaded. */
function FilePreview({ label, url }: { label: string; url: string | undefined }) {
  /** The preview that could not be loaded. */
  const [broken, setBroken] = useState<string>()
  const [loaded, setLoaded] = useState<string>()
  if (!url || url === broken) return null
  return (
    <img
      src={url}
      alt={`${label} preview`}
      className={classes['preview']}
      data-loading={url !== loaded || undefined}
      onLoad={() => setLoaded(url)}
      onError={() => setBroken(url)}
    />
  )
}
