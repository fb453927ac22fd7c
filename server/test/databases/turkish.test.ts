import { runSuites } from './locales.ts'

await runSuites('Turkish')
