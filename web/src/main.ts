/**
 * The entry: it lets the browser paint the loading screen of index.html, which says already what is coming, before the app's scripts run.
 * They arrive before the first frame and would hold it up for as long as they take.
 */

/** Resolves once a frame was painted; at once in a tab that nobody sees, because its first frame may be a long time off. */
function firstFrame(): Promise<void> {
  return new Promise((resolve) => {
    if (document.hidden) resolve()
    else requestAnimationFrame(() => setTimeout(resolve))
    document.addEventListener('visibilitychange', () => resolve(), { once: true })
  })
}

await firstFrame()
await import('./start.tsx')
