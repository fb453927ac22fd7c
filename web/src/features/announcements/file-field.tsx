/** The image or the icon of an announcement (§5): chosen, shown before it is sent, cleared. The form uploads it when it is saved. */
import { fileUrl } from '@arcade/contract/entities/announcement'
import { UPLOAD_LIMIT_BYTES, UPLOAD_MEDIA_TYPES } from '@arcade/contract/announcements'
import { Button } from '@mantine/core'
import { useEffect, useId, useRef, useState } from 'react'
import classes from './announcements.module.css'

/** A file that is stored already, one of this computer with an address to show it by, or none. */
export type ChosenFile = { key: string; name: string } | { file: File; url: string } | undefined

/** Where the browser finds it. */
export function addressOf(file: ChosenFile): string | undefined {
  return file && ('key' in file ? fileUrl(file.key) : file.url)
}

interface FileFieldProps {
  label: string
  value: ChosenFile
  onChange: (value: ChosenFile) => void
  /** What the server said of it. */
  error: string | undefined
}

export function FileField({ label, value, onChange, error }: FileFieldProps) {
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  const [tooLarge, setTooLarge] = useState<string>()
  const [broken, setBroken] = useState<string>()
  const ownUrl = value && 'url' in value ? value.url : undefined
  const preview = addressOf(value)
  const problem = tooLarge ?? error

  useEffect(() => () => URL.revokeObjectURL(ownUrl ?? ''), [ownUrl])

  const handleChoice = (file: File | undefined) => {
    if (!file) return // the dialog was left without a choice: what was chosen before stays
    const isTooLarge = file.size > UPLOAD_LIMIT_BYTES
    setTooLarge(isTooLarge ? `${file.name} is larger than ${UPLOAD_LIMIT_BYTES / 1024 / 1024} MB.` : undefined)
    if (!isTooLarge) onChange({ file, url: URL.createObjectURL(file) })
    if (input.current) input.current.value = '' // so that choosing the same file again is a choice
  }

  const handleClear = () => {
    setTooLarge(undefined)
    onChange(undefined)
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
          onChange={(event) => handleChoice(event.currentTarget.files?.[0])}
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
          {value ? ('file' in value ? value.file.name : value.name) : 'No file chosen'}
        </p>
      </div>
      {preview && preview !== broken && (
        <img src={preview} alt={`${label} preview`} className={classes['preview']} onError={() => setBroken(preview)} />
      )}
      <p id={`${id}-error`} className={classes['error']} aria-live="polite">
        {problem}
      </p>
    </div>
  )
}
