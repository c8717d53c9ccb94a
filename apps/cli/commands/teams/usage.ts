// `qjob usage`: what a team ran and spent in a month, and what it stores.
import type { Command } from 'commander'
import { type StorageKind, sizeText, storageKindNames, storageKinds } from '../../../../domain/teams/team-storage.js'
import { readTeamHelp, type TeamOptions, teamIdOf } from '../../session/choice.js'
import { type ServiceOptions, serviceCommand, withService } from '../../session/service-command.js'
import { table } from '../../terminal/layout.js'
import { money, printResult } from '../../terminal/output.js'

interface Usage {
  period: { month: string }
  summary: { totalSpend: number; lastMonthSpend: number; changePercent: number | null }
  byBackend: { backend: string; provider: string; spend: number; jobs: number; shots: number }[]
  storage: { usedBytes: number; limitBytes: number; byKind: Record<StorageKind, number> } | null
}

interface UsageOptions extends ServiceOptions, TeamOptions {
  month?: string
  csv?: boolean
}

export function addUsageCommand(program: Command): void {
  serviceCommand(program, 'usage', 'show what a team ran and spent in a month, and what it stores')
    .option('--month <month>', 'such as 2026-11 (default: the present month, UTC)')
    .option('--csv', 'print a line for each day and backend, as CSV')
    .option('--team <team>', readTeamHelp)
    .action((options: UsageOptions) =>
      withService(options, async (api) => {
        const query = new URLSearchParams()
        if (options.month !== undefined) query.set('month', options.month)
        const team = await teamIdOf(api, options)
        if (team !== undefined) query.set('team_id', team)
        if (options.csv) {
          query.set('format', 'csv')
          return void process.stdout.write((await api.download(`/api/team/usage?${query}`)).bytes)
        }
        const { value, text } = await api.get<Usage>(`/api/team/usage?${query}`)
        printResult(options, text, () => usageText(value))
      })
    )
}

function usageText({ period, summary, byBackend, storage }: Usage): string {
  const change =
    summary.changePercent === null ? '' : ` (${summary.changePercent > 0 ? '+' : ''}${summary.changePercent} %)`
  const spent = `${money(summary.totalSpend)} in ${period.month}, ${money(summary.lastMonthSpend)} the month before${change}`
  const backends = table(
    [
      { heading: 'BACKEND', least: 12 },
      { heading: 'PROVIDER', yields: 1 },
      ...['JOBS', 'SHOTS', 'SPENT'].map((heading) => ({ heading, right: true }))
    ],
    byBackend.map(({ backend, provider, jobs, shots, spend }) => [
      backend,
      provider,
      String(jobs),
      String(shots),
      money(spend)
    ])
  )
  const stored =
    storage &&
    `${sizeText(storage.usedBytes)} of ${sizeText(storage.limitBytes)} stored\n${table(
      [
        { heading: 'WHAT', least: 12 },
        { heading: 'SIZE', right: true }
      ],
      storageKindNames.map((kind) => [storageKinds[kind], sizeText(storage.byKind[kind])])
    )}`
  return [spent, ...(byBackend.length > 0 ? [backends] : []), ...(stored ? [stored] : [])].join('\n\n')
}
