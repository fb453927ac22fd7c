/** Keeps a dialog's last value, because the dialog is still visible while it closes. */
import { useState } from 'react'

/** Returns the value, or the last one that was there. */
export function useLast<Value>(value: Value | undefined): Value | undefined {
  const [last, setLast] = useState(value)
  if (value !== undefined && value !== last) setLast(value)
  return value ?? last
}
