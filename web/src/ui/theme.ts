/** Mantine's theme: brand colours for both schemes, and fixes that axe requires (contrast, names). */
import { createTheme, type CSSVariablesResolver, defaultVariantColorsResolver, type MantineColorsTuple } from '@mantine/core'

const arcade: MantineColorsTuple = [
  '#e3fff8',
  '#c5fbee',
  '#92f6de',
  '#5ff1cd',
  '#2fedbf', // §9
  '#17d4a8',
  '#0fb08c',
  '#0b8c70',
  '#087159',
  '#055545',
]

const night: MantineColorsTuple = [
  '#e6ebf7',
  '#c3cce0',
  '#a3aec8',
  '#76829f',
  '#3b4666',
  '#2a3350',
  '#161d33',
  '#111830',
  '#0e1426',
  '#0b1020',
]

const red: MantineColorsTuple = [
  '#fff5f5',
  '#ffe3e3',
  '#ffc9c9',
  '#ffa8a8',
  '#ff8f8f',
  '#ff6b6b',
  '#f25252',
  '#d93636',
  '#bf2323',
  '#9c1919',
]

/** Mantine renders a drawer's header as <header>, which assistive technology would take for the page's banner. */
const noBanner = { header: { role: 'presentation' } }

export const theme = createTheme({
  colors: { arcade, dark: night, red },
  primaryColor: 'arcade',
  primaryShade: { light: 8, dark: 4 },
  autoContrast: true,
  // autoContrast only considers the light scheme's shade, but the dark scheme's shades are bright.
  variantColorResolver: (input) => {
    const colors = defaultVariantColorsResolver(input)
    return input.variant === 'filled' ? { ...colors, color: 'var(--app-on-filled)' } : colors
  },
  respectReducedMotion: true,
  cursorType: 'pointer',
  // The tokens of tokens.css for Mantine's components: one size of text for fields, buttons and cells.
  defaultRadius: 'md',
  radius: { sm: 'var(--radius-small)', md: 'var(--radius-control)', lg: 'var(--radius-panel)' },
  fontFamily: 'var(--font)',
  fontSizes: {
    xs: 'var(--text-xs)',
    sm: 'var(--text-base)',
    md: 'var(--text-base)',
    lg: 'var(--text-lg)',
    xl: 'var(--text-xl)',
  },
  fontWeights: { regular: 'var(--weight-regular)', medium: 'var(--weight-medium)', bold: 'var(--weight-strong)' },
  headings: { fontFamily: 'inherit', fontWeight: 'var(--weight-strong)' },
  // lockScroll is off: it makes the body scroll instead of the window, which breaks sticky elements behind a drawer.
  components: {
    Drawer: { defaultProps: { closeButtonProps: { 'aria-label': 'Close menu' }, lockScroll: false, attributes: noBanner } },
    Pagination: {
      defaultProps: {
        getControlProps: (control: 'first' | 'previous' | 'next' | 'last') => ({ 'aria-label': pagerLabels[control] }),
        getItemProps: (page: number) => ({ 'aria-label': `Page ${page}` }),
      },
    },
  },
})

const pagerLabels = { first: 'First page', previous: 'Previous page', next: 'Next page', last: 'Last page' }

/** Mantine's error red, placeholder and dimmed grey have less contrast than 4.5:1, and its outlines of bright shades are white. */
export const cssVariablesResolver: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-error': red[8],
    '--mantine-color-placeholder': '#636d82',
    '--mantine-color-dimmed': '#566075',
    '--mantine-color-text': '#141a2e',
  },
  dark: {
    '--mantine-color-error': red[4],
    '--mantine-color-red-outline': red[4],
    '--mantine-color-placeholder': '#97a3bf',
    '--mantine-color-dimmed': night[2],
    '--mantine-color-text': night[0],
  },
})
