// `qjob admin ...`: commands for operators, who work directly in the database and do not sign in, and for platform
// administrators, who use their session. The audit log records the changes of both.
import { type Command, InvalidArgumentError } from 'commander'
import { makeAccessCode, makePlatformAdmin, suspendTeam, unsuspendTeam } from '../../../../db/admin/administration.js'
import { commandLine } from '../../../../db/audit/admin-audit.js'
import {
  ACCESS_CODE_USES_MAX,
  accessCodePattern,
  SUSPENSION_REASON_MAX,
  teamView
} from '../../../../domain/operations/administration.js'
import { jsonOption, reportingFailures, timeInFuture, wholeNumberWithin } from '../../session/service-command.js'
import { CliError } from '../../terminal/cli-error.js'
import { print, printJson, printResult } from '../../terminal/output.js'
import { clockTime } from '../../terminal/readable-time.js'
import { plainLine } from '../../terminal/untrusted-text.js'
import { addAdminAuditCommand } from './admin-actions.js'
import { addBackendCommand } from './admin-backend.js'
import { addAdminBudgetCommand } from './admin-budget.js'
import { addContentsCommand } from './admin-contents.js'
import { databaseHelp, inDatabase, teamId } from './admin-database.js'
import { addAdminJobCommands } from './admin-jobs.js'
import { addListCommands } from './admin-lists.js'
import { addMigrateCommand } from './admin-migrate.js'
import { addMoneyCommands } from './admin-money.js'
import { addSigningKeyCommand } from './admin-signing.js'
import { addStorageCommand } from './admin-storage.js'
import { addAdminSystemCommand } from './admin-system.js'
import { addTeamLimitsCommand } from './admin-team-limits.js'
import { addBackupCommands } from './backup.js'
import { addRotateKeysCommand } from './rotate-keys.js'

export function addAdminCommand(program: Command): void {
  const admin = program
    .command('admin')
    .description('operate the service: in its database without signing in, or as a platform administrator')
  jsonOption(admin.command('create-code').description('create an access code for sign-up'))
    .option('--uses <n>', 'how many people can sign up with it', wholeNumberWithin(1, ACCESS_CODE_USES_MAX), 1)
    .option('--code <code>', 'the code (default: a random one)', accessCode)
    .option('--expires <time>', 'ISO 8601 time at which it expires', timeInFuture)
    .addHelpText('after', databaseHelp)
    .action((options: { json?: boolean; uses: number; code?: string; expires?: Date }) =>
      reportingFailures(options, () => createCode(options))
    )
  jsonOption(admin.command('grant <email>').description('make a user a platform administrator'))
    .addHelpText('after', databaseHelp)
    .action((email: string, options: { json?: boolean }) => reportingFailures(options, () => grant(email, options)))
  addListCommands(admin)
  jsonOption(
    admin
      .command('suspend')
      .argument('<team-id>', '', teamId)
      .description('make a team read-only; running jobs continue')
  )
    .requiredOption('--reason <text>', 'the reason, for the audit log', suspensionReason)
    .addHelpText('after', databaseHelp)
    .action((id: string, options: { json?: boolean; reason: string }) =>
      reportingFailures(options, () => suspend(id, options))
    )
  jsonOption(admin.command('unsuspend').argument('<team-id>', '', teamId).description("lift a team's suspension"))
    .addHelpText('after', databaseHelp)
    .action((id: string, options: { json?: boolean }) => reportingFailures(options, () => unsuspend(id, options)))
  addTeamLimitsCommand(admin)
  addStorageCommand(admin)
  addContentsCommand(admin)
  addMoneyCommands(admin)
  addRotateKeysCommand(admin)
  addSigningKeyCommand(admin)
  addBackupCommands(admin)
  addMigrateCommand(admin)
  addAdminBudgetCommand(admin)
  addBackendCommand(admin)
  addAdminJobCommands(admin)
  addAdminAuditCommand(admin)
  addAdminSystemCommand(admin)
}

async function createCode(options: { json?: boolean; uses: number; code?: string; expires?: Date }): Promise<void> {
  const { uses, expires } = options
  const code = await inDatabase(({ db }) =>
    makeAccessCode(db, commandLine, {
      uses,
      ...(options.code !== undefined && { code: options.code }),
      expiresAt: expires ?? null
    })
  )
  const expiresAt = expires?.toISOString() ?? null
  if (options.json) return printJson(JSON.stringify({ code, uses, expires_at: expiresAt }))
  const until = expiresAt ? ` until ${expiresAt}` : ''
  print(
    `${code}\n${uses === 1 ? 'one person' : `${uses} people`} can sign up with it${until}: qjob sign-up EMAIL --code ${code}`
  )
}

async function grant(email: string, options: { json?: boolean }): Promise<void> {
  const granted = await inDatabase(({ db }) => makePlatformAdmin(db, commandLine, email))
  if (!granted) throw new CliError('refused', `no account has the address ${email}: sign up first`)
  printResult(
    options,
    JSON.stringify({ email, is_platform_admin: true }),
    () => `${email} is a platform administrator now.`
  )
}

async function suspend(id: string, options: { json?: boolean; reason: string }): Promise<void> {
  const team = teamView(await inDatabase(({ db }) => suspendTeam(db, commandLine, id, options.reason)))
  if (options.json) return printJson(JSON.stringify(team))
  print(`${plainLine(team.name)} is read-only since ${clockTime(team.suspended_at!)}; its running jobs continue.`)
}

async function unsuspend(id: string, options: { json?: boolean }): Promise<void> {
  const team = teamView(await inDatabase(({ db }) => unsuspendTeam(db, commandLine, id)))
  printResult(options, JSON.stringify(team), () => `${plainLine(team.name)} is no longer suspended.`)
}

function accessCode(text: string): string {
  if (!new RegExp(accessCodePattern).test(text))
    throw new InvalidArgumentError('It must have 1 to 64 letters, digits, hyphens or underscores.')
  return text
}

function suspensionReason(text: string): string {
  if (text.trim() === '' || text.length > SUSPENSION_REASON_MAX)
    throw new InvalidArgumentError(`It must have 1 to ${SUSPENSION_REASON_MAX} characters.`)
  return text
}
