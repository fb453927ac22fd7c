import { runSuites } from './locales.ts'

await runSuites('C of the system')
