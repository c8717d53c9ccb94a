// `qjob schedule`: verifies a sealed capsule again and again, at the times of a schedule.
import { type Command, Option } from 'commander'
import { alertOutcomes } from '../../../domain/verification/schedule-names.js'
import type { ApiClient } from '../session/api-client.js'
import { capsuleArgument, capsuleIdOf } from '../session/named-ids.js'
import { collect, type ServiceOptions, serviceCommand, withService } from '../session/service-command.js'
import { listing } from '../terminal/layout.js'
import { printResult } from '../terminal/output.js'
import { clockTime } from '../terminal/readable-time.js'

interface Schedule {
  cron: string
  timezone: string
  paused: boolean
  alert: { emails: string[]; on: string[] }
  next_runs: string[]
  last_run: { scheduled_at: string | null; status: string; verdict: string | null; reason: string | null } | null
  engine: { state: string; reason: string | null }
}

interface SetOptions extends ServiceOptions {
  cron: string
  timezone: string
  paused?: boolean
  alert: string[]
  on: string[]
}

interface BackfillOptions extends ServiceOptions {
  from: string
  to: string
}

export function addScheduleCommand(program: Command): void {
  const schedule = program.command('schedule').description('verify sealed capsules at the times of a schedule')
  serviceCommand(schedule, 'set', 'set the schedule of a sealed capsule, in place of the present one')
    .argument('<capsule>', capsuleArgument)
    .requiredOption('--cron <times>', 'minute, hour, day of the month, month, day of the week; or @daily and the like')
    .option('--timezone <name>', 'the time zone of these times, such as Europe/Berlin', 'UTC')
    .option('--paused', 'start no runs for now')
    .option('--alert <address>', 'a member who gets mails about unexpected outcomes; repeatable', collect, [])
    .addOption(
      new Option('--on <outcome...>', 'the outcomes that the mails are about')
        .choices(alertOutcomes)
        .default([...alertOutcomes])
    )
    .action((capsule: string, { cron, timezone, paused = false, alert, on, ...options }: SetOptions) =>
      shown(capsule, options, (api, path) =>
        api.put<Schedule>(path, { cron, timezone, paused, alert: { emails: alert, on } })
      )
    )
  serviceCommand(schedule, 'show', 'show the schedule of a capsule, its next times and its last run')
    .argument('<capsule>', capsuleArgument)
    .action((capsule: string, options: ServiceOptions) => shown(capsule, options, (api, path) => api.get(path)))
  serviceCommand(schedule, 'backfill', 'run what the schedule missed between two times')
    .argument('<capsule>', capsuleArgument)
    .requiredOption('--from <time>', 'ISO 8601 time')
    .requiredOption('--to <time>', 'ISO 8601 time')
    .action((capsule: string, { from, to, ...options }: BackfillOptions) =>
      withService(options, async (api) => {
        const path = `/api/capsules/${await capsuleIdOf(api, capsule)}/schedule/backfill`
        const { value, text } = await api.post<{ count: number; passed_over: number }>(path, { from, to })
        printResult(options, text, () => `${value.count} runs are created; ${value.passed_over} times had one already`)
      })
    )
  serviceCommand(schedule, 'delete', 'end the schedule of a capsule; a run in progress continues')
    .argument('<capsule>', capsuleArgument)
    .action((capsule: string, options: ServiceOptions) =>
      withService(options, async (api) => {
        const id = await capsuleIdOf(api, capsule)
        const { text } = await api.delete(`/api/capsules/${id}/schedule`)
        printResult(options, text, () => `the schedule of capsule ${id} has ended`)
      })
    )
}

const shown = (
  capsule: string,
  options: ServiceOptions,
  request: (api: ApiClient, path: string) => Promise<{ value: Schedule; text: string }>
): Promise<void> =>
  withService(options, async (api) => {
    const { value, text } = await request(api, `/api/capsules/${await capsuleIdOf(api, capsule)}/schedule`)
    printResult(options, text, () => scheduleText(value))
  })

const scheduleText = ({ cron, timezone, paused, alert, next_runs, last_run, engine }: Schedule): string =>
  listing([
    ['times', `${cron} ${timezone}${paused ? ', paused' : ''}`],
    ['mails to', alert.emails.join(', ')],
    ['mails about', alert.emails.length > 0 ? alert.on.join(', ') : null],
    ...next_runs.map((time): [string, string] => ['next', clockTime(time)]),
    ['last run', last_run && `${last_run.verdict ?? last_run.status}${last_run.reason ? `: ${last_run.reason}` : ''}`],
    ['state', engine.reason ? `${engine.state}: ${engine.reason}` : engine.state]
  ])
