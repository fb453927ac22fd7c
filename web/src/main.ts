/**
 * The entry point. It loads the app after the browser has painted the loading screen of index.html: scripts that are already there would
 * otherwise run first and delay that paint.
 */

/** Resolves after the first frame is painted, or at once in a hidden tab, which may not paint for a long time. */
function firstFrame(): Promise<void> {
  return new Promise((resolve) => {
    if (document.hidden) resolve()
    else requestAnimationFrame(() => setTimeout(resolve))
    document.addEventListener('visibilitychange', () => resolve(), { once: true })
  })
}

await firstFrame()
await import('./start.tsx')
