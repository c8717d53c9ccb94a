// `qjob`: the command line. Each command lives in commands/<name>.ts, adds itself here, and is loaded only when it is asked
// for, or all are: most of a short command's time would go by with loading what others need.
import { Command } from 'commander'
import { exitCodes } from './terminal/cli-error.js'

/** The words that a module's commands go by, in the order in which the help has them. */
const commands: [words: string[], load: () => Promise<(program: Command) => void>][] = [
  [['start'], async () => (await import('./commands/start.js')).addStartCommand],
  [['demo'], async () => (await import('./commands/demo.js')).addDemoCommand],
  [['emulators'], async () => (await import('./commands/emulators.js')).addEmulatorsCommand],
  [['sign-up', 'login', 'logout', 'whoami'], async () => (await import('./commands/account.js')).addAccountCommands],
  [['run'], async () => (await import('./commands/run.js')).addRunCommand],
  [['submit'], async () => (await import('./commands/submit.js')).addSubmitCommand],
  [['scripts'], async () => (await import('./commands/scripts.js')).addScriptsCommand],
  [['capsule'], async () => (await import('./commands/capsule.js')).addCapsuleCommand],
  [['jobs'], async () => (await import('./commands/jobs.js')).addJobsCommand],
  [['job', 'cancel'], async () => (await import('./commands/job.js')).addJobCommands],
  [['backends'], async () => (await import('./commands/backends.js')).addBackendsCommand],
  [['budget'], async () => (await import('./commands/budget.js')).addBudgetCommand],
  [['audit', 'keys'], async () => (await import('./commands/audit.js')).addAuditCommands],
  [['admin'], async () => (await import('./commands/admin/admin.js')).addAdminCommand]
]

const program = new Command('qjob')
  .description('Self-hosted quantum job platform')
  .showHelpAfterError('(add --help for the options)')
  // Before the commands are added, which take these settings over. Help that was asked for ends with 0.
  .exitOverride((error) => process.exit(error.exitCode === 0 ? exitCodes.done : exitCodes.usage))

const [word] = process.argv.slice(2)
const meant = commands.filter(([words]) => words.includes(word!))
for (const [, load] of meant.length > 0 ? meant : commands) (await load())(program)

// A reader that has seen enough, such as `head`, is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(exitCodes.done)
  throw error
})

await program.parseAsync()
