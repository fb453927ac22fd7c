/** Sizes and durations of backups in words. */

const UNITS = ['kB', 'MB', 'GB', 'TB'] as const

/** Returns `60.4 MB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  const power = Math.min(UNITS.length, Math.floor(Math.log10(bytes) / 3))
  return `${(bytes / 1000 ** power).toFixed(1)} ${UNITS[power - 1]}`
}

/** Returns `41 s`, `3 min 5 s` or `2 h 10 min`. */
export function durationText(from: string, until: string): string {
  const seconds = Math.max(0, Math.round((Date.parse(until) - Date.parse(from)) / 1000))
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
