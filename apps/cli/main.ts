// `qjob`: the command line. Each command lives in commands/<name>.ts and adds itself here.
import { Command } from 'commander'
import { exitCodes } from './cli-error.js'
import { addAccountCommands } from './commands/account.js'
import { addAdminCommand } from './commands/admin.js'
import { addAuditCommands } from './commands/audit.js'
import { addBackendsCommand } from './commands/backends.js'
import { addBudgetCommand } from './commands/budget.js'
import { addCapsuleCommand } from './commands/capsule.js'
import { addDemoCommand } from './commands/demo.js'
import { addEmulatorsCommand } from './commands/emulators.js'
import { addJobCommands } from './commands/job.js'
import { addJobsCommand } from './commands/jobs.js'
import { addRunCommand } from './commands/run.js'
import { addScriptsCommand } from './commands/scripts.js'
import { addStartCommand } from './commands/start.js'
import { addSubmitCommand } from './commands/submit.js'

const program = new Command('qjob')
  .description('Self-hosted quantum job platform')
  .showHelpAfterError('(add --help for the options)')
  // Before the commands are added, which take these settings over. Help that was asked for ends with 0.
  .exitOverride((error) => process.exit(error.exitCode === 0 ? exitCodes.done : exitCodes.usage))

addStartCommand(program)
addDemoCommand(program)
addEmulatorsCommand(program)
addAccountCommands(program)
addRunCommand(program)
addSubmitCommand(program)
addScriptsCommand(program)
addCapsuleCommand(program)
addJobsCommand(program)
addJobCommands(program)
addBackendsCommand(program)
addBudgetCommand(program)
addAuditCommands(program)
addAdminCommand(program)

// A reader that has seen enough, such as `head`, is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(exitCodes.done)
  throw error
})

await program.parseAsync()
