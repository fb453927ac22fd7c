/**
 * Reads the player and the theme from the URL fragment that Telegram adds, and follows theme changes through events
 * (https://core.telegram.org/api/web-events). This needs no script from Telegram.
 */

type Theme = Record<string, string>

const launch = new URLSearchParams(location.hash.slice(1))

/** Signed by Telegram; the bot's server and the console verify it. Empty outside Telegram. */
export const initData = launch.get('tgWebAppData') ?? ''

interface Bridge {
  TelegramWebviewProxy?: { postEvent: (type: string, data: string) => void }
  Telegram?: { WebView: { receiveEvent: (type: string, data: unknown) => void } }
}
const bridge = window as Window & Bridge

function post(type: string, data: object = {}): void {
  if (bridge.TelegramWebviewProxy) bridge.TelegramWebviewProxy.postEvent(type, JSON.stringify(data))
  else if (window.parent !== window) window.parent.postMessage(JSON.stringify({ eventType: type, eventData: data }), '*')
}

/** Applies the theme as CSS variables such as `--tg-button-color`, now and after each change. */
export function followTelegram(): void {
  applyTheme(JSON.parse(launch.get('tgWebAppThemeParams') ?? '{}') as Theme)
  const receive = (type: string, data: unknown): void => {
    if (type === 'theme_changed') applyTheme((data as { theme_params: Theme }).theme_params)
  }
  // Telegram's apps call this function. Its web version posts messages to the frame; messages from other windows are ignored.
  bridge.Telegram = { WebView: { receiveEvent: receive } }
  window.addEventListener('message', ({ source, data }: MessageEvent<unknown>) => {
    if (source !== window.parent || typeof data !== 'string') return
    const { eventType, eventData } = JSON.parse(data) as { eventType: string; eventData: unknown }
    receive(eventType, eventData)
  })
  post('web_app_ready')
  post('web_app_expand')
}

function applyTheme(theme: Theme): void {
  const { style } = document.documentElement
  for (const [name, color] of Object.entries(theme)) style.setProperty(`--tg-${name.replaceAll('_', '-')}`, color)
  if (theme['bg_color']) style.colorScheme = isDark(theme['bg_color']) ? 'dark' : 'light'
}

function isDark(color: string): boolean {
  const [red = 0, green = 0, blue = 0] = (color.match(/[0-9a-f]{2}/gi) ?? []).map((part) => Number.parseInt(part, 16))
  return red * 0.3 + green * 0.59 + blue * 0.11 < 128
}

/** Opens a task's link; the Mini App stays open. */
export function openLink(url: string): void {
  if (bridge.TelegramWebviewProxy) post('web_app_open_link', { url })
  else window.open(url, '_blank', 'noopener')
}
