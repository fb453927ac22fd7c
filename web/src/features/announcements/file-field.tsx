/** The field for an announcement's image or icon (§5): choose a file, see its preview, clear it. The form uploads it when it is saved. */
import { fileUrl } from '@arcade/contract/announcements/fields'
import { UPLOAD_MEDIA_TYPES } from '@arcade/contract/announcements/calls'
import { shownFileName } from '@arcade/contract/text'
import { Button } from '@mantine/core'
import { type ChangeEvent, type RefObject, useEffect, useId, useState } from 'react'
import classes from './announcements.module.css'

/** A file stored on the server, a local file with the URL of its preview, or no file. */
export type ChosenFile = { key: string; name: string } | { file: File; url: string } | undefined

/** Returns the URL of the file's preview; undefined without a file. */
export function previewAddress(file: ChosenFile): string | undefined {
  return file && ('key' in file ? fileUrl(file.key) : file.url)
}

interface FileFieldProps {
  label: string
  input: RefObject<HTMLInputElement | null>
  value: ChosenFile
  /** Why the last chosen file was refused, here or by the server. */
  error: string | undefined
  onChoose: (file: File) => void
  onClear: () => void
}

export function FileField({ label, input, value, error, onChoose, onClear }: FileFieldProps) {
  const id = useId()
  const ownUrl = value && 'url' in value ? value.url : undefined

  useEffect(() => () => URL.revokeObjectURL(ownUrl ?? ''), [ownUrl])

  const handleChange = ({ currentTarget }: ChangeEvent<HTMLInputElement>) => {
    const file = currentTarget.files?.[0]
    if (!file) return // the file dialog was cancelled: the previous file stays
    currentTarget.value = '' // otherwise choosing the same file again would fire no change event
    onChoose(file)
  }
  const handleClear = () => {
    onClear()
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
          aria-invalid={error ? true : undefined}
          onChange={handleChange}
        />
        <label htmlFor={id} className={classes['choose']} aria-hidden>
          Choose File
        </label>
        {(value || error) && (
          <Button variant="default" size="compact-sm" aria-describedby={`${id}-name ${id}-error`} onClick={handleClear}>
            Clear
          </Button>
        )}
        <p id={`${id}-name`} className={classes['name']}>
          {value ? shownFileName('file' in value ? value.file.name : value.name) : 'No file chosen'}
        </p>
      </div>
      <FilePreview label={label} url={previewAddress(value)} />
      <p id={`${id}-error`} className={classes['error']} aria-live="polite">
        {error}
      </p>
    </div>
  )
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
