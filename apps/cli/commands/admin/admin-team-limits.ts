// `qjob admin team-limits`: how much of the shared machines one team can use at once.
import type { Command } from 'commander'
import { changeTeamLimits } from '../../../../db/admin/administration.js'
import { commandLine } from '../../../../db/audit/admin-audit.js'
import { RUNNING_JOBS_MAX } from '../../../../domain/jobs/dispatch.js'
import { SLOTS_MAX, type TeamLimits, teamView } from '../../../../domain/operations/administration.js'
import { jsonOption, reportingFailures, wholeNumberWithin } from '../../session/service-command.js'
import { print, printJson } from '../../terminal/output.js'
import { plainLine } from '../../terminal/untrusted-text.js'
import { databaseHelp, inDatabase, teamId } from './admin-database.js'

interface LimitOptions {
  json?: boolean
  runningJobs?: number | null
  slots?: number | null
}

export function addTeamLimitsCommand(admin: Command): void {
  jsonOption(
    admin
      .command('team-limits')
      .argument('<team-id>', '', teamId)
      .description('show or set how much of the shared machines a team can use at once')
  )
    .option('--running-jobs <n>', "jobs under way, or 'default'", orDefault(RUNNING_JOBS_MAX))
    .option('--slots <n>', "slots of the executor for each worker, or 'default' for all", orDefault(SLOTS_MAX))
    .addHelpText('after', databaseHelp)
    .action((id: string, options: LimitOptions) => reportingFailures(options, () => setLimits(id, options)))
}

const orDefault = (max: number) => (text: string) => (text === 'default' ? null : wholeNumberWithin(1, max)(text))

async function setLimits(id: string, { json, runningJobs, slots }: LimitOptions): Promise<void> {
  const change: TeamLimits = {
    ...(runningJobs !== undefined && { runningJobsMax: runningJobs }),
    ...(slots !== undefined && { slotsMax: slots })
  }
  const team = teamView(await inDatabase(({ db }) => changeTeamLimits(db, commandLine, id, change)))
  if (json) return printJson(JSON.stringify(team))
  const jobs = team.running_jobs_max ?? 'the default number of'
  print(`${plainLine(team.name)} can have ${jobs} jobs under way, and use ${team.slots_max ?? 'all'} slots at once.`)
}
