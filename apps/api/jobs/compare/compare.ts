// Whether two jobs sample one distribution: /api/jobs/compare. The counts are compared in a thread.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { findBackend } from '../../../../db/backends/backends.js'
import { resultContent } from '../../../../db/jobs/attempts.js'
import { type JobRow, loadJob } from '../../../../db/jobs/jobs.js'
import { type StoredContent, wholeOf } from '../../../../db/stored-content.js'
import type { Backend } from '../../../../domain/backends/backend.js'
import { ServiceError, validationError } from '../../../../domain/errors.js'
import { POINTS_MAX } from '../../../../domain/jobs/params/points.js'
import type { CompareInput } from '../../../../services/threads/compare-jobs.js'
import type { ApiDeps } from '../../deps.js'
import { callerOf } from '../../http/access.js'
import { compareBytes } from '../../http/memory.js'
import { json, uuid } from '../../http/response.js'
import { comparisonView, isHardware, JobComparison } from './comparison-view.js'

const sides = ['a', 'b'] as const
type Side = (typeof sides)[number]

/** One side of a comparison. */
const JobSelector = Type.Union(
  [
    uuid,
    Type.Object(
      { job_id: uuid, point: Type.Optional(Type.Integer({ minimum: 0, maximum: POINTS_MAX - 1 })) },
      { additionalProperties: false }
    )
  ],
  {
    description: 'The id of a completed job of one of your teams; of a sweep, also with the number of one of its points'
  }
)

interface Selected {
  jobId: string
  point: number | null
}

const selected = (given: Static<typeof JobSelector>): Selected =>
  typeof given === 'string' ? { jobId: given, point: null } : { jobId: given.job_id, point: given.point ?? null }

const CompareBody = Type.Object(
  {
    a: JobSelector,
    b: JobSelector,
    margin: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: 1,
        description:
          'The total variation distance that is tolerated. Left out: 0.05, or 0.10 if one job ran on a quantum computer.'
      })
    )
  },
  { additionalProperties: false }
)

/** A completed job whose result is stored. */
interface Chosen {
  job: JobRow
  point: number | null
  backend: Backend | null
  stored: StoredContent
}

export const compareRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  const { db } = deps

  app.post(
    '/api/jobs/compare',
    {
      schema: {
        tags: ['jobs'],
        summary: 'Whether the counts of two completed jobs come from one distribution',
        description:
          'Compares the results of any two jobs of your teams, on simulators and quantum computers, with the tests of a verification, and changes nothing. A comparison that takes longer than 20 s is not_testable.',
        body: CompareBody,
        response: { 200: json('The comparison', JobComparison) },
        errors: ['not_found', 'service_busy', 'content_store_unavailable']
      }
    },
    async (request) => {
      const { margin = null } = request.body
      const { a, b } = await chosenJobs(request, { a: selected(request.body.a), b: selected(request.body.b) })
      return app.large.within(request, compareBytes(a.stored.sizeBytes + b.stored.sizeBytes), async () => {
        const input: CompareInput = { a: await inputOf('a', a), b: await inputOf('b', b), margin }
        return comparisonView(await deps.comparing.compareInThread(a.job.teamId, input), a, b)
      })
    }
  )

  /** @throws ServiceError `not_found`, or `validation_error` naming each job that has no result. */
  async function chosenJobs(request: FastifyRequest, of: Record<Side, Selected>): Promise<Record<Side, Chosen>> {
    const caller = callerOf(request)
    const [a, b] = [await loadJob(db, caller, of.a.jobId), await loadJob(db, caller, of.b.jobId)]
    const unknown = sides.filter((side) => ({ a, b })[side] === null)
    if (!a || !b) throw new ServiceError('not_found', unknown.map((side) => `${side}: no such job`).join('; '))
    const open = Object.entries({ a, b }).filter(([, { status }]) => status !== 'completed')
    if (open.length > 0)
      throw validationError(
        open.map(([side, { status }]) => `${side}: must be a completed job (it is ${status})`).join('; ')
      )
    return { a: await chosen('a', a, of.a.point), b: await chosen('b', b, of.b.point) }
  }

  async function chosen(side: Side, job: JobRow, point: number | null): Promise<Chosen> {
    if (point !== null && point >= (job.pointsTotal ?? 0))
      throw validationError(
        job.pointsTotal === null
          ? `${side}.point: this job is no sweep; leave it out`
          : `${side}.point: this job has ${job.pointsTotal} points, the first is 0 (got ${point})`
      )
    const stored = await resultContent(db, job.id, job.resultSha256!)
    if (!stored) throw resultGone(side)
    return { job, point, backend: await findBackend(db, job.backend), stored }
  }

  async function inputOf(side: Side, { job, point, backend, stored }: Chosen): Promise<CompareInput[Side]> {
    const content = await wholeOf(db, stored)
    if (!content) throw resultGone(side)
    const facts = {
      hardware: isHardware(backend),
      local: backend !== null && backend.engine !== null,
      completedAt: job.completedAt?.toISOString() ?? null
    }
    return { id: job.id, point, backend: job.backend, result: { content, facts } }
  }
}

const resultGone = (side: Side): ServiceError => validationError(`${side}: the result of this job has been deleted`)
