import { runSuites } from './locales.ts'

await runSuites('German')
