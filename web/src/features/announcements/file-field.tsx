/** The field for an announcement's image or icon (§5): one chooses a file, sees it, and can clear it. The form uploads it when it is saved. */
import { fileUrl } from '@arcade/contract/announcements/fields'
import { UPLOAD_MEDIA_TYPES } from '@arcade/contract/announcements/calls'
import { Button } from '@mantine/core'
import { useEffect, useId, useRef, useState } from 'react'
import classes from './announcements.module.css'
import { imageProblem } from './image-check.ts'

/** A file that the server has, one of this computer with the address of its picture, or none. */
export type ChosenFile = { key: string; name: string } | { file: File; url: string } | undefined

/** The address of the file's picture. */
export function previewAddress(file: ChosenFile): string | undefined {
  return file && ('key' in file ? fileUrl(file.key) : file.url)
}

interface FileFieldProps {
  label: string
  value: ChosenFile
  onChange: (value: ChosenFile) => void
  /** Looking at a chosen file takes a moment; it resolves with why the file was not accepted, if it was not. */
  onChoosing?: (choice: Promise<string | undefined>) => void
  /** The server's message about the file. */
  error: string | undefined
}

export function FileField({ label, value, onChange, onChoosing, error }: FileFieldProps) {
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  /** Why the file that was chosen last was not accepted. */
  const [refusal, setRefusal] = useState<string>()
  const choices = useRef(0)
  const [broken, setBroken] = useState<string>()
  const ownUrl = value && 'url' in value ? value.url : undefined
  const preview = previewAddress(value)
  const problem = refusal ?? error

  useEffect(() => () => URL.revokeObjectURL(ownUrl ?? ''), [ownUrl])

  const handleChoice = async (file: File): Promise<string | undefined> => {
    if (input.current) input.current.value = '' // otherwise choosing the same file again would be no change
    const choice = ++choices.current
    const found = await imageProblem(file)
    if (choice !== choices.current) return undefined // another one was chosen meanwhile
    setRefusal(found)
    if (found === undefined) onChange({ file, url: URL.createObjectURL(file) })
    return found
  }

  const handleClear = () => {
    choices.current += 1
    setRefusal(undefined)
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
          onChange={({ currentTarget: { files } }) => {
            // Where nothing was chosen in the dialog, the file that was chosen before stays.
            if (!files?.[0]) return
            const choice = handleChoice(files[0])
            onChoosing?.(choice)
          }}
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
