// The tree of commands. Each command is in commands/<name>.ts and is loaded only when it is used, because loading all of them
// would take most of a short command's time.
import { Command } from 'commander'
import { projectVersion } from './stack/project.js'
import { exitCodes } from './terminal/cli-error.js'
import { errScreen, outScreen } from './terminal/screen.js'
import { wrapped } from './terminal/text-width.js'

/** The command names of each module, in the order of the help. */
const commands: [words: string[], load: () => Promise<(program: Command) => void>][] = [
  [['start'], async () => (await import('./commands/start.js')).addStartCommand],
  [['demo'], async () => (await import('./commands/demo.js')).addDemoCommand],
  [['emulators'], async () => (await import('./commands/emulators.js')).addEmulatorsCommand],
  [
    ['sign-up', 'login', 'logout', 'forgot-password', 'reset-password', 'whoami'],
    async () => (await import('./commands/accounts/account.js')).addAccountCommands
  ],
  [['run'], async () => (await import('./commands/run.js')).addRunCommand],
  [['submit'], async () => (await import('./commands/submit.js')).addSubmitCommand],
  [['scripts'], async () => (await import('./commands/scripts.js')).addScriptsCommand],
  [['capsule'], async () => (await import('./commands/capsule.js')).addCapsuleCommand],
  [['schedule'], async () => (await import('./commands/schedule.js')).addScheduleCommand],
  [['jobs'], async () => (await import('./commands/jobs.js')).addJobsCommand],
  [['job', 'cancel'], async () => (await import('./commands/job.js')).addJobCommands],
  [['compare'], async () => (await import('./commands/compare.js')).addCompareCommand],
  [['logs'], async () => (await import('./commands/logs.js')).addLogsCommand],
  [['rerun', 'source', 'artifacts'], async () => (await import('./commands/job-files.js')).addJobFileCommands],
  [['backends'], async () => (await import('./commands/backends.js')).addBackendsCommand],
  [['estimate'], async () => (await import('./commands/estimate.js')).addEstimateCommand],
  [['budget'], async () => (await import('./commands/teams/budget.js')).addBudgetCommand],
  [['usage'], async () => (await import('./commands/teams/usage.js')).addUsageCommand],
  [['retention'], async () => (await import('./commands/teams/retention.js')).addRetentionCommand],
  [['team'], async () => (await import('./commands/teams/team.js')).addTeamCommand],
  [['member'], async () => (await import('./commands/teams/member.js')).addMemberCommand],
  [['invitation'], async () => (await import('./commands/teams/invitation.js')).addInvitationCommand],
  [['key'], async () => (await import('./commands/teams/key.js')).addKeyCommand],
  [['credentials'], async () => (await import('./commands/teams/credentials.js')).addCredentialsCommand],
  [['webhook'], async () => (await import('./commands/teams/webhook.js')).addWebhookCommand],
  [
    ['profile', 'password', 'sessions'],
    async () => (await import('./commands/accounts/profile.js')).addProfileCommands
  ],
  [['audit', 'signing-keys'], async () => (await import('./commands/audit.js')).addAuditCommands],
  [['admin'], async () => (await import('./commands/admin/admin.js')).addAdminCommand],
  [
    ['completion'],
    async () => {
      const { addCompletionCommand } = await import('./commands/completion.js')
      return (program) => addCompletionCommand(program, qjobProgram)
    }
  ]
]

/** Help is no wider than this, on any terminal and without one. */
const HELP_COLUMNS_MAX = 80
/** The room that a description needs next to its option. */
const DESCRIPTION_COLUMNS_MIN = 20

/** @param word the first word of the command line; without a command of this name, all commands are loaded. */
export async function qjobProgram(word?: string): Promise<Command> {
  const program = new Command('qjob')
    .version(projectVersion())
    .description('Self-hosted quantum job platform')
    .addHelpText(
      'after',
      '\nThe service is --url, else QJOB_URL, else the stack running from DATA_DIR (.data), else http://127.0.0.1:PORT (3000).'
    )
    .configureHelp({ minWidthToWrap: DESCRIPTION_COLUMNS_MIN })
    .configureOutput({
      getOutHelpWidth: () => Math.min(outScreen().columns, HELP_COLUMNS_MAX),
      getErrHelpWidth: () => Math.min(errScreen().columns, HELP_COLUMNS_MAX),
      writeOut: (text) => process.stdout.write(wrapped(text, Math.min(outScreen().columns, HELP_COLUMNS_MAX))),
      writeErr: (text) => process.stderr.write(wrapped(text, errScreen().columns))
    })
    .showHelpAfterError('(add --help for the options)')
    // Set before the commands are added, which inherit it. Requested help exits with 0.
    .exitOverride((error) => process.exit(error.exitCode === 0 ? exitCodes.done : exitCodes.usage))
  const selected = commands.filter(([words]) => word !== undefined && words.includes(word))
  for (const [, load] of selected.length > 0 ? selected : commands) (await load())(program)
  return program
}
