// Sets the colour scheme before the first paint, from what was chosen here or else the system's. A file, because the CSP forbids
// inline scripts; the key and the attribute are Mantine's.
;(function () {
  var chosen = null
  try {
    chosen = localStorage.getItem('mantine-color-scheme-value')
  } catch {
    // Storage is forbidden in this browser: follow the system.
  }
  var isDark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.setAttribute('data-mantine-color-scheme', isDark ? 'dark' : 'light')
})()
