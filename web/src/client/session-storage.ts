/** The tab's sessionStorage, which outlives a reload and ends with the tab. */

/** Accesses it; returns undefined where the browser forbids it. */
export function withSessionStorage<T>(act: (storage: Storage) => T): T | undefined {
  try {
    return act(sessionStorage)
  } catch {
    return undefined
  }
}
