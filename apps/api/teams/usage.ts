// Shows what a team ran and spent in a month: /api/team/usage.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { DbOrTx } from '../../../db/client.js'
import { monthlySpend, spendOf, usageOf } from '../../../db/money/usage.js'
import { storageOf } from '../../../db/teams/team-storage.js'
import { validationError } from '../../../domain/errors.js'
import { oneOf } from '../../../domain/json/one-of.js'
import { usdFromMicro } from '../../../domain/money/money.js'
import { type Month, monthBefore, monthOf, readMonth } from '../../../domain/money/month.js'
import type { ApiDeps } from '../deps.js'
import { readTeam } from '../http/access.js'
import { jsonOr } from '../http/response.js'
import { Usage, usageCsv, usageView } from './usage-view.js'

const usageResponse = jsonOr(
  'The usage; with format=csv a table of date, provider, backend, jobs, shots, spend_usd',
  Usage,
  'text/csv'
)

export const usageRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  const { db } = deps

  app.get(
    '/api/team/usage',
    {
      schema: {
        tags: ['budgets'],
        summary: 'What a team ran and spent in a month (UTC), and what it stores now',
        description: 'By provider, backend and day; with format=csv one line for each day and backend.',
        querystring: Type.Object({
          team_id: Type.Optional(Type.String({ format: 'uuid' })),
          month: Type.Optional(Type.String({ maxLength: 20, description: 'YYYY-MM; the present one without' })),
          months: Type.Optional(
            Type.Integer({
              minimum: 1,
              maximum: 12,
              description: 'Also the total of so many months, back from `month`'
            })
          ),
          format: Type.Optional(oneOf(['json', 'csv']))
        }),
        response: { 200: usageResponse }
      }
    },
    async (request, reply) => {
      const { team_id, month: given, months, format } = request.query
      const month = given === undefined ? monthOf(deps.now()) : readMonth(given)
      if (!month) throw validationError(`month: must be YYYY-MM, such as 2026-11 (got ${JSON.stringify(given)})`)
      const team = await readTeam(request, db, team_id)
      const [lines, before, storage] = team
        ? await Promise.all([
            usageOf(db, team.id, month),
            spendOf(db, team.id, monthBefore(month)),
            storageOf(db, team.id)
          ])
        : [[], 0n, null]
      if (format !== 'csv') {
        const usage = usageView(month, lines, before, storage)
        return months === undefined ? usage : { ...usage, months: await totals(db, team?.id ?? null, month, months) }
      }
      reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', `attachment; filename="usage-${month.month}.csv"`)
      return usageCsv(lines)
    }
  )
}

/** The total of each month, the newest first. */
async function totals(db: DbOrTx, teamId: string | null, last: Month, count: number) {
  const months = [last]
  while (months.length < count) months.push(monthBefore(months.at(-1)!))
  const spent = teamId === null ? new Map<string, bigint>() : await monthlySpend(db, teamId, months.at(-1)!, last)
  return months.map(({ month }) => ({ month, spend: usdFromMicro(spent.get(month) ?? 0n) }))
}
