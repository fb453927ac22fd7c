/**
 * The choice of colour scheme: light, dark or the system's. It is kept in this browser; public/color-scheme.js applies it before the first
 * paint.
 */
import { type MantineColorScheme, useMantineColorScheme } from '@mantine/core'
import { IconDeviceDesktop, IconMoon, IconSun } from '@tabler/icons-react'
import { memo } from 'react'
import classes from './shell.module.css'

export const colorSchemes: readonly { value: MantineColorScheme; label: string; Icon: typeof IconSun }[] = [
  { value: 'light', label: 'Light', Icon: IconSun },
  { value: 'dark', label: 'Dark', Icon: IconMoon },
  { value: 'auto', label: 'System', Icon: IconDeviceDesktop },
]

/** Memoised, because each render makes Mantine query the system's scheme, which forces a style recalculation of the whole page. */
export const ColorSchemeSwitch = memo(function ColorSchemeSwitch() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <fieldset className={classes['schemes']}>
      <legend className="app-sr-only">Theme</legend>
      {colorSchemes.map(({ value, label, Icon }) => (
        <label key={value} title={label} className={classes['scheme']}>
          <input
            type="radio"
            name="theme"
            className="app-sr-only"
            aria-label={label}
            checked={colorScheme === value}
            onChange={() => setColorScheme(value)}
          />
          <Icon size={18} stroke={1.75} aria-hidden />
        </label>
      ))}
    </fieldset>
  )
})
