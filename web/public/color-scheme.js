// Applies the stored colour scheme, or the system's, before the first paint. A separate file, because the CSP forbids inline scripts.
// The key and the attribute are Mantine's.
;(function () {
  var chosen = null
  try {
    chosen = localStorage.getItem('mantine-color-scheme-value')
  } catch {
    // The browser forbids storage: follow the system.
  }
  var isDark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.setAttribute('data-mantine-color-scheme', isDark ? 'dark' : 'light')
})()
