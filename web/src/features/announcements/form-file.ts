/** A file of an announcement's form (§5): stored on the server already, or uploaded when the form is submitted. */
import { useRef, useState } from 'react'
import { asCallError, CallError } from '#src/client/call-error.ts'
import { client } from '#src/client/client.ts'
import type { ChosenFile } from './file-field.tsx'

/** Returns the key of a stored file or the name of a local one. */
export function keyOrName(value: ChosenFile): string | null {
  if (!value) return null
  return 'key' in value ? value.key : value.file.name
}

export function storedFile(key: string | null | undefined, name: string | null | undefined): ChosenFile {
  return key ? { key, name: name ?? '' } : undefined
}

export type FormFile = ReturnType<typeof useFile>

/** The state of a file of the form. It is uploaded when the form is submitted, and not again if the form was refused for another reason. */
export function useFile(initial: ChosenFile) {
  const [initialFile] = useState(initial)
  const [value, setValue] = useState(initial)
  const [error, setError] = useState<string>()
  const sent = useRef(new WeakMap<File, { key: string; name: string }>())
  /** The file to send. It is a ref, because a file may be accepted after the form was submitted. */
  const latest = useRef(initial)
  const choosing = useRef<Promise<string | undefined>>(undefined)
  return {
    isChanged: value !== initialFile,
    field: {
      value,
      error,
      onChange: (next: ChosenFile) => {
        setError(undefined)
        setValue(next)
        latest.current = next
      },
      onChoosing: (choice: Promise<string | undefined>) => {
        choosing.current = choice
        void choice.then(() => {
          if (choosing.current === choice) choosing.current = undefined
        })
      },
    },
    /** Uploads the file unless it was uploaded, and returns its key and name. @throws CallError; a refusal is also shown at the field */
    async send(): Promise<{ key: string | null; name: string | null }> {
      setError(undefined)
      const problem = await choosing.current
      if (problem !== undefined) throw new CallError({ code: 'INVALID_INPUT', status: 400, message: problem })
      const chosen = latest.current
      if (!chosen) return { key: null, name: null }
      if ('key' in chosen) return chosen
      const alreadySent = sent.current.get(chosen.file)
      if (alreadySent) return alreadySent
      try {
        const stored = await client.announcements.upload({ query: { name: chosen.file.name }, body: rawBody(chosen.file) })
        sent.current.set(chosen.file, stored)
        return stored
      } catch (cause) {
        const { isException, message } = asCallError(cause)
        if (!isException) setError(message) // an exception is not about the file
        throw cause
      }
    },
    /** Shows the server's message that it no longer has the file, and makes the next save upload the file again. */
    refuse(message: string | undefined) {
      if (message === undefined) return
      setError(message)
      if (value && 'file' in value) sent.current.delete(value.file)
    },
  }
}

/** The file without its media type, because the server judges a file by its content. */
function rawBody(file: File): Blob {
  return new Blob([file], { type: 'application/octet-stream' })
}
