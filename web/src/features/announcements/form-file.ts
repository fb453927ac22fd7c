/** A file of an announcement's form (§5): stored on the server already, or uploaded when the form is submitted. */
import { useRef, useState } from 'react'
import { asCallError } from '#src/client/call-error.ts'
import { client } from '#src/client/client.ts'
import type { ChosenFile } from './file-field.tsx'
import { imageProblem } from './image-check.ts'

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
  const sent = useRef(new WeakMap<File, StoredFile>())
  /** The file to send. It is a ref, because a file may be accepted after the form was submitted. */
  const latest = useRef(initial)
  const input = useRef<HTMLInputElement>(null)
  /** Why the last chosen file is refused. Undefined once a file was accepted, or the refused one cleared. */
  const choosing = useRef<Promise<string | undefined>>(undefined)
  const change = (next: ChosenFile) => {
    choosing.current = undefined
    setError(undefined)
    setValue(next)
    latest.current = next
  }
  return {
    isChanged: value !== initialFile,
    change,
    field: {
      input,
      value,
      error,
      onChoose: (file: File) => {
        const choice = imageProblem(file)
        choosing.current = choice
        void choice.then((problem) => {
          if (choosing.current !== choice) return // another one was chosen meanwhile
          if (problem === undefined) change({ file, url: URL.createObjectURL(file) })
          else setError(problem)
        })
      },
      /** Clears a refused choice first, so that the file before it can be kept. */
      onClear: () => change(choosing.current ? latest.current : undefined),
    },
    /** Waits until the chosen file is checked. If it is refused, its field gets the focus. */
    async isRefused(): Promise<boolean> {
      const isRefused = (await choosing.current) !== undefined
      if (isRefused) input.current?.focus()
      return isRefused
    },
    /** Uploads the file unless it was uploaded, and returns its key and name. @throws CallError; a refusal is also shown at the field */
    async send(): Promise<{ key: string | null; name: string | null }> {
      setError(undefined)
      const chosen = latest.current
      if (!chosen) return { key: null, name: null }
      if ('key' in chosen) return chosen
      try {
        const stored = sent.current.get(chosen.file) ?? (await upload(chosen.file))
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

interface StoredFile {
  key: string
  name: string
}

/** Sends the file without its media type, because the server judges a file by its content. */
function upload(file: File): Promise<StoredFile> {
  const body = new Blob([file], { type: 'application/octet-stream' })
  return client.announcements.upload({ query: { name: file.name }, body })
}
