// `qjob`: the command line.
import { qjobProgram } from './program.js'
import { exitCodes } from './terminal/cli-error.js'
import { findScreens } from './terminal/screen.js'

findScreens(process.stdout, process.stderr)

// A reader that stops early, such as `head`, is not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(exitCodes.done)
  throw error
})

const program = await qjobProgram(process.argv[2])
await program.parseAsync()
