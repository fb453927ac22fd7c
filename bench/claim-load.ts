/** The process that sends the claims of operators.bench.ts. */
import { claimUntil } from './claiming.ts'
import { answerParent } from './in-process.ts'

answerParent(claimUntil)
