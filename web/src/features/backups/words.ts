/** Sizes of backups and how long they took, in words. */

const UNITS = ['kB', 'MB', 'GB', 'TB'] as const

/** Returns `60.4 MB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  const power = Math.min(UNITS.length, Math.floor(Math.log10(bytes) / 3))
  return `${(bytes / 1000 ** power).toFixed(1)} ${UNITS[power - 1]}`
}

/** Returns `41 s`, `3 min 5 s`, `2 h` or `2 h 10 min`. */
export function elapsedText(from: string, until: string): string {
  const seconds = Math.max(0, Math.round((Date.parse(until) - Date.parse(from)) / 1000))
  const minutes = Math.floor(seconds / 60)
  const parts = minutes < 60 ? { min: minutes, s: seconds % 60 } : { h: Math.floor(minutes / 60), min: minutes % 60 }
  const text = Object.entries(parts).flatMap(([unit, value]) => (value > 0 ? [`${value} ${unit}`] : []))
  return text.join(' ') || '0 s'
}
