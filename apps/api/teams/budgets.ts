// A team's budget: limits, ceilings, and what is spent and reserved. Members read, the owner sets limits up to the
// ceilings, platform administrators set both.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { differences, lockTeam } from '../../../db/admin/administration.js'
import { heldJobs } from '../../../db/admin/held-money.js'
import { recordAdminAction } from '../../../db/audit/admin-audit.js'
import { changeTeamBudget, teamBudget } from '../../../db/money/budget.js'
import { teamExists } from '../../../db/teams/teams.js'
import { ServiceError, validationError } from '../../../domain/errors.js'
import { type BudgetLimits, limitNames } from '../../../domain/money/budget.js'
import { formatUsd, microFromUsd } from '../../../domain/money/money.js'
import type { ApiDeps } from '../deps.js'
import { readTeam, teamForWrite, userOf } from '../http/access.js'
import { json } from '../http/response.js'
import { auditView, Budget, budgetView, fieldOf, HELD_MAX, heldView, TeamBudget } from './budget-view.js'

const Usd = Type.Number({ minimum: 0, maximum: 1_000_000_000 })
const LimitFields = Type.Object(
  {
    per_job_usd: Type.Optional(Usd),
    per_suite_usd: Type.Optional(Usd),
    daily_usd: Type.Optional(Usd),
    monthly_usd: Type.Optional(Usd)
  },
  { additionalProperties: false }
)
type LimitFields = Static<typeof LimitFields>

const TeamQuery = Type.Object({ team_id: Type.Optional(Type.String({ format: 'uuid' })) })

export const budgetRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  const { db } = deps

  app.get(
    '/api/team/budget',
    {
      schema: {
        tags: ['budgets'],
        summary: 'Limits, and what is spent, reserved and held',
        querystring: TeamQuery,
        response: { 200: json('The budget', TeamBudget) }
      }
    },
    async (request) => {
      const team = await readTeam(request, db, request.query.team_id)
      // A caller without any team yet has the limits that their personal team will have.
      const id = team?.id ?? null
      const [budget, held] = await Promise.all([
        budgetView(db, id, deps.now()),
        id === null ? { rows: [], jobs: 0, amount: 0n } : heldJobs(db, HELD_MAX, id)
      ])
      return { ...budget, held: heldView(held) }
    }
  )

  app.patch(
    '/api/team/budget',
    {
      schema: {
        tags: ['budgets'],
        summary: "Set a team's limits (owner)",
        body: Type.Object(
          { team_id: Type.Optional(Type.String({ format: 'uuid' })), ...LimitFields.properties },
          { additionalProperties: false }
        ),
        response: { 200: json('The budget', Budget) }
      }
    },
    async (request, reply) => {
      const { team_id: named, ...fields } = request.body
      const limits = readLimits(fields)
      return app.writeOnce(request, reply, async ({ tx }) => {
        const id = await teamForWrite(request, tx, named ?? null)
        const { ceilings } = await teamBudget(tx, id)
        for (const name of limitNames)
          if ((limits[name] ?? 0n) > ceilings[name])
            throw validationError(
              `${fieldOf[name]}: must be at most ${formatUsd(ceilings[name])}, the ceiling that the platform sets`
            )
        await changeTeamBudget(tx, id, limits)
        return { body: await budgetView(tx, id, deps.now()) }
      })
    }
  )
}

export const adminBudgetRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  const { db } = deps
  const params = Type.Object({ id: Type.String({ format: 'uuid' }) })

  app.get(
    '/api/admin/teams/:id/budgets',
    {
      schema: {
        tags: ['administration'],
        summary: "A team's budget",
        params,
        response: { 200: json('The budget', Budget) }
      }
    },
    async (request) => {
      if (!(await teamExists(db, request.params.id))) throw new ServiceError('not_found', 'no such team')
      return budgetView(db, request.params.id, deps.now())
    }
  )

  app.put(
    '/api/admin/teams/:id/budgets',
    {
      schema: {
        tags: ['administration'],
        summary: "Set a team's limits and ceilings; what is left out stays",
        params,
        body: Type.Object(
          { ...LimitFields.properties, ceilings: Type.Optional(LimitFields) },
          { additionalProperties: false }
        ),
        response: { 200: json('The budget', Budget) }
      }
    },
    async (request, reply) => {
      const { ceilings = {}, ...fields } = request.body
      const { id } = request.params
      const change = [readLimits(fields), readLimits(ceilings)] as const
      return app.writeOnce(request, reply, async ({ tx }) => {
        await lockTeam(tx, id)
        const before = auditView(await teamBudget(tx, id))
        await changeTeamBudget(tx, id, ...change)
        const after = auditView(await teamBudget(tx, id))
        if (Object.keys(fields).length + Object.keys(ceilings).length > 0) {
          // A limit above its ceiling is stored, but the limit in force does not show it.
          const details = { requested: request.body, ...differences(before, after) }
          await recordAdminAction(tx, userOf(request), 'team.budget', id, details)
        }
        return { body: await budgetView(tx, id, deps.now()) }
      })
    }
  )
}

function readLimits(fields: LimitFields): Partial<BudgetLimits> {
  const limits: Partial<BudgetLimits> = {}
  for (const name of limitNames) {
    const usd = fields[fieldOf[name]]
    if (usd === undefined) continue
    const micro = microFromUsd(usd)
    if (micro === null) throw validationError(`${fieldOf[name]}: must have at most 6 decimals (got ${usd})`)
    limits[name] = micro
  }
  return limits
}
