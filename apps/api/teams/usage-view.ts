// A team's usage of a month, as JSON and as a table.
import { type Static, Type } from 'typebox'
import type { UsageLine } from '../../../db/money/usage.js'
import { type MicroUsd, usdFromMicro } from '../../../domain/money/money.js'
import { changePercent, daysOf, type Month } from '../../../domain/money/month.js'
import { type StorageKind, storageKindNames, type TeamStorage } from '../../../domain/teams/team-storage.js'
import { count, nullable, text, usd } from '../http/response.js'

export const Usage = Type.Object({
  period: Type.Object({ start: text, end: text, month: text }),
  summary: Type.Object({ totalSpend: usd, lastMonthSpend: usd, changePercent: nullable(Type.Number()) }),
  byProvider: Type.Array(Type.Object({ provider: text, spend: usd, jobs: count, shots: count })),
  byBackend: Type.Array(
    Type.Object({ backend: text, name: text, provider: text, spend: usd, jobs: count, shots: count })
  ),
  daily: Type.Array(Type.Object({ date: text, spend: usd, jobs: count })),
  storage: nullable(
    Type.Object({
      usedBytes: count,
      limitBytes: count,
      byKind: Type.Object(
        Object.fromEntries(storageKindNames.map((kind) => [kind, count])) as Record<StorageKind, typeof count>
      )
    }),
    'What the team stores now, whatever the month; null for a caller without a team'
  ),
  months: Type.Optional(
    Type.Array(Type.Object({ month: text, spend: usd }), {
      description: 'With `months`: the total of each, the month of the response first'
    })
  )
})

/** @param before the cost of the previous month. */
export function usageView(
  month: Month,
  lines: UsageLine[],
  before: MicroUsd,
  storage: TeamStorage | null
): Static<typeof Usage> {
  const total = sum(lines).spend
  return {
    period: { start: month.start, end: month.end, month: month.month },
    summary: {
      totalSpend: usdFromMicro(total),
      lastMonthSpend: usdFromMicro(before),
      changePercent: changePercent(before, total)
    },
    byProvider: [...grouped(lines, ({ provider }) => provider)].map(([provider, of]) => ({ provider, ...figures(of) })),
    byBackend: [...grouped(lines, ({ backend }) => backend)].map(([backend, of]) => ({
      backend,
      name: of[0]!.name,
      provider: of[0]!.provider,
      ...figures(of)
    })),
    daily: daysOf(month).map((date) => {
      const { spend, jobs } = figures(lines.filter(({ day }) => day === date))
      return { date, spend, jobs }
    }),
    storage: storage && { usedBytes: storage.used, limitBytes: storage.limit, byKind: storage.byKind }
  }
}

function grouped(lines: UsageLine[], by: (line: UsageLine) => string): Map<string, UsageLine[]> {
  const groups = new Map<string, UsageLine[]>()
  for (const line of lines) groups.set(by(line), [...(groups.get(by(line)) ?? []), line])
  return groups
}

const sum = (lines: UsageLine[]) =>
  lines.reduce(
    (all, { spend, jobs, shots }) => ({ spend: all.spend + spend, jobs: all.jobs + jobs, shots: all.shots + shots }),
    { spend: 0n, jobs: 0, shots: 0 }
  )

function figures(lines: UsageLine[]) {
  const { spend, jobs, shots } = sum(lines)
  return { spend: usdFromMicro(spend), jobs, shots }
}

/** The table holds slugs and numbers only, so no cell can be a formula. */
export const usageCsv = (lines: UsageLine[]): string =>
  [
    'date,provider,backend,jobs,shots,spend_usd',
    ...lines.map(({ day, provider, backend, jobs, shots, spend }) =>
      [day, quoted(provider), quoted(backend), jobs, shots, usdFromMicro(spend)].join(',')
    ),
    ''
  ].join('\r\n')

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`
