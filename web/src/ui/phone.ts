/** The window of a phone: rows of lists are cards, and panes are sheets (design §7). The width is that of the style sheets. */
import { useMediaQuery } from '@mantine/hooks'

export function useIsPhone(): boolean {
  return useMediaQuery('(width < 40em)', undefined, { getInitialValueInEffect: false })
}
