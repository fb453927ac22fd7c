/** Keeps a value for a dialog that closes: it is still shown then. */
import { useState } from 'react'

/** Returns the value, or the last one that was there. */
export function useLast<Value>(value: Value | undefined): Value | undefined {
  const [last, setLast] = useState(value)
  if (value !== undefined && value !== last) setLast(value)
  return value ?? last
}
