/** Telegram's colours for its light and dark themes. */
export const themes = {
  light: {
    bg_color: '#ffffff',
    secondary_bg_color: '#f0f0f5',
    text_color: '#000000',
    hint_color: '#64646b',
    link_color: '#1c6fb8',
    button_color: '#1c6fb8',
    button_text_color: '#ffffff',
    destructive_text_color: '#c62828',
  },
  dark: {
    bg_color: '#17212b',
    secondary_bg_color: '#232e3c',
    text_color: '#f5f5f5',
    hint_color: '#9fb0c0',
    link_color: '#6ab3f3',
    button_color: '#5ea9e8',
    button_text_color: '#0d1520',
    destructive_text_color: '#ff8a80',
  },
} as const
export type ThemeName = keyof typeof themes
