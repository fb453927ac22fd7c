/** Logic that needs no browser; what does is tested in e2e/ against the built app. */
import { mergeConfig } from 'vitest/config'
import viteConfig from './vite.config.ts'

export default mergeConfig(viteConfig, { test: { name: 'web', include: ['src/**/*.test.{ts,tsx}'] } })
