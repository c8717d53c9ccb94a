// Platform administration of money: what is held because nobody knows what it cost, what cost more than was reserved, and
// what the proof of the books has found. Held money is settled here with the figure of the provider's bill.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { loadAnyJob } from '../../../db/admin/administration-lists.js'
import { loadMoney, settleByAdministrator } from '../../../db/admin/held-money.js'
import { validationError } from '../../../domain/errors.js'
import { oneOf } from '../../../domain/json/one-of.js'
import { heldJobStatuses, moneyView, SETTLEMENT_NOTE_MAX } from '../../../domain/money/held-money.js'
import { microFromUsd } from '../../../domain/money/money.js'
import type { ApiDeps } from '../deps.js'
import { userOf } from '../http/access.js'
import { count, json, nullable, text, time, usd, uuid } from '../http/response.js'
import { Job } from '../jobs/job-view.js'
import { recordJson } from '../jobs/requested-job.js'
import { SweepPass } from './sweep-view.js'

const Money = Type.Object(
  {
    held: Type.Array(
      Type.Object({
        job_id: uuid,
        team_id: uuid,
        team_name: text,
        backend: text,
        provider: text,
        provider_job_id: nullable(text),
        status: oneOf(heldJobStatuses),
        status_reason: nullable(text),
        held_usd: usd,
        since: time,
        asks_provider_at: nullable(time, 'null: its provider is no longer asked')
      })
    ),
    held_jobs: count,
    held_usd: usd,
    over_reservation: Type.Array(
      Type.Object({
        job_id: uuid,
        team_id: uuid,
        team_name: text,
        backend: text,
        reserved_usd: usd,
        settled_usd: usd,
        settled_at: time
      })
    ),
    proofs: Type.Object({}, { additionalProperties: SweepPass })
  },
  { $id: 'Money' }
)

const LISTED_MAX = 500

export const adminMoneyRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  const { db } = deps

  app.get(
    '/api/admin/money',
    {
      schema: {
        tags: ['administration'],
        summary: 'Held money, jobs that cost more than was reserved for them, and what the proofs of the books found',
        querystring: Type.Object(
          { limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LISTED_MAX, default: 100 })) },
          { additionalProperties: false }
        ),
        response: { 200: json('Held money, and what the proofs found', Money) }
      }
    },
    async (request) => {
      return moneyView(await loadMoney(db, request.query.limit ?? 100))
    }
  )

  app.post(
    '/api/admin/jobs/:id/settle',
    {
      schema: {
        tags: ['administration'],
        summary: "Settle a job's held money with what its provider billed",
        params: Type.Object({ id: Type.String({ format: 'uuid' }) }),
        body: Type.Object(
          {
            cost_usd: Type.Number({ minimum: 0, maximum: 1_000_000_000 }),
            note: Type.String({
              minLength: 1,
              maxLength: SETTLEMENT_NOTE_MAX,
              pattern: '\\S',
              description: 'Why, for the audit'
            })
          },
          { additionalProperties: false }
        ),
        response: { 200: json('The record, with the cost', Job) },
        errors: ['conflict']
      }
    },
    async (request, reply) => {
      const { id } = request.params
      const { cost_usd, note } = request.body
      const cost = microFromUsd(cost_usd)
      if (cost === null) throw validationError(`cost_usd: must have at most 6 decimals (got ${cost_usd})`)
      return app.writeOnce(request, reply, async ({ tx, afterCommit }) => {
        await settleByAdministrator(tx, userOf(request), id, { cost, note: note.trim() })
        afterCommit(() => deps.announce(id))
        return { body: await recordJson(deps, tx, (await loadAnyJob(tx, id))!) }
      })
    }
  )
}
