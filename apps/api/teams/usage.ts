// What a team ran and spent in a month: /api/team/usage.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { spendOf, type UsageLine, usageOf } from '../../../db/money/usage.js'
import { validationError } from '../../../domain/errors.js'
import { oneOf } from '../../../domain/json/one-of.js'
import { type MicroUsd, usdFromMicro } from '../../../domain/money/money.js'
import { changePercent, daysOf, type Month, monthBefore, monthOf, readMonth } from '../../../domain/money/month.js'
import type { ApiDeps } from '../deps.js'
import { readTeam } from '../http/access.js'

export const usageRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  const { db } = deps

  app.get(
    '/api/team/usage',
    {
      schema: {
        tags: ['budgets'],
        summary: 'What a team ran and spent in a month (UTC)',
        description: 'By provider, backend and day; with format=csv one line for each day and backend.',
        querystring: Type.Object({
          team_id: Type.Optional(Type.String({ format: 'uuid' })),
          month: Type.Optional(Type.String({ maxLength: 20, description: 'YYYY-MM; the present one without' })),
          format: Type.Optional(oneOf(['json', 'csv']))
        })
      }
    },
    async (request, reply) => {
      const { team_id, month: given, format } = request.query
      const month = given === undefined ? monthOf(deps.now()) : readMonth(given)
      if (!month) throw validationError(`month: must be YYYY-MM, such as 2026-11 (got ${JSON.stringify(given)})`)
      const team = await readTeam(request, db, team_id)
      const [lines, before] = team
        ? await Promise.all([usageOf(db, team.id, month), spendOf(db, team.id, monthBefore(month))])
        : [[], 0n]
      if (format !== 'csv') return usageView(month, lines, before)
      return reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', `attachment; filename="usage-${month.month}.csv"`)
        .send(csvOf(lines))
    }
  )
}

function usageView(month: Month, lines: UsageLine[], before: MicroUsd) {
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
    })
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

/** Slugs and numbers alone: nothing in it can be a formula. */
const csvOf = (lines: UsageLine[]): string =>
  [
    'date,provider,backend,jobs,shots,spend_usd',
    ...lines.map(({ day, provider, backend, jobs, shots, spend }) =>
      [day, quoted(provider), quoted(backend), jobs, shots, usdFromMicro(spend)].join(',')
    ),
    ''
  ].join('\r\n')

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`
