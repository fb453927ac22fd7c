/** `npm run arcade -- …`: the operator's commands, run beside a running server or without one. */
import { runArcade } from './run-arcade.ts'

// A command runs to its end even if nobody reads its output any more, as with `| head`.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })

process.exitCode = await runArcade(process.argv.slice(2), {
  print: (line) => void process.stdout.write(`${line}\n`),
  note: (line) => void process.stderr.write(`${line}\n`),
})
