// Platform administration of money: what is held because nobody knows what it cost, what cost more than was reserved, and
// what the proof of the books has found. Held money is settled here with the figure of the provider's bill.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { loadAnyJob } from '../../../db/administration-lists.js'
import {
  type HeldJob,
  heldJobs,
  type OverReservation,
  overReservations,
  settleByAdministrator
} from '../../../db/held-money.js'
import { loadSweeps } from '../../../db/sweeps.js'
import { ServiceError } from '../../../domain/errors.js'
import { microFromUsd, usdFromMicro } from '../../../domain/money.js'
import type { ApiDeps } from '../deps.js'
import { userOf } from '../plugins/access.js'
import { sweepView } from '../sweep-view.js'
import { recordJson } from './jobs.js'

const LISTED_MAX = 500
const NOTE_MAX = 500

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
        )
      }
    },
    async (request) => {
      const limit = request.query.limit ?? 100
      const [held, over, sweeps] = await Promise.all([heldJobs(db, limit), overReservations(db, limit), loadSweeps(db)])
      const proofs = sweeps.filter(({ name }) => name.startsWith('money'))
      return {
        held: held.rows.map(heldView),
        held_jobs: held.jobs,
        held_usd: usdFromMicro(held.amount),
        over_reservation: over.map(overView),
        proofs: Object.fromEntries(proofs.map((proof) => [proof.name, sweepView(proof)]))
      }
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
            note: Type.String({ minLength: 1, maxLength: NOTE_MAX, pattern: '\\S', description: 'Why, for the audit' })
          },
          { additionalProperties: false }
        )
      }
    },
    async (request, reply) => {
      const { id } = request.params
      const { cost_usd, note } = request.body
      const cost = microFromUsd(cost_usd)
      if (cost === null)
        throw new ServiceError('validation_error', `cost_usd: must have at most 6 decimals (got ${cost_usd})`)
      return app.writeOnce(request, reply, async ({ tx, afterCommit }) => {
        await settleByAdministrator(tx, userOf(request), id, { cost, note: note.trim() })
        afterCommit(() => deps.announce(id))
        return { body: await recordJson(deps, tx, (await loadAnyJob(tx, id))!) }
      })
    }
  )
}

const heldView = (job: HeldJob) => ({
  job_id: job.jobId,
  team_id: job.teamId,
  team_name: job.teamName,
  backend: job.backend,
  provider: job.provider,
  provider_job_id: job.providerJobId,
  status: job.status,
  status_reason: job.reason,
  held_usd: usdFromMicro(job.amount),
  since: job.since.toISOString(),
  asks_provider_at: job.asksAt?.toISOString() ?? null
})

const overView = (job: OverReservation) => ({
  job_id: job.jobId,
  team_id: job.teamId,
  team_name: job.teamName,
  backend: job.backend,
  reserved_usd: usdFromMicro(job.reserved),
  settled_usd: usdFromMicro(job.settled),
  settled_at: job.at.toISOString()
})
