// Counts and logs the outcome of each submission when its response is sent: recorded, repeated or refused.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { ExecutionMode } from '../../../domain/jobs/job-status.js'
import type { BudgetRefusal } from '../../../domain/money/budget.js'
import type { Metrics } from './telemetry/metrics.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** What is known so far about a submission: first a backend of the catalogue, then the recorded job. */
    submission: { mode: ExecutionMode; backend: string; recorded?: { jobId: string; teamId: string } } | null
  }
}

/** The routes that create jobs. */
const submitting = new Set(['/api/jobs/submit', '/api/jobs/:id/rerun', '/api/capsules/:id/run'])

export type SubmissionMetrics = Pick<Metrics, 'countSubmission' | 'countBudgetRejection'>

export default fp(
  async (app: FastifyInstance, { metrics }: { metrics: SubmissionMetrics }) => {
    app.decorateRequest('submission', null)
    app.addHook('onRoute', (route) => {
      if (route.method !== 'POST' || !submitting.has(route.url)) return
      route.onSend = [
        ...[route.onSend ?? []].flat(),
        (request, reply, payload, done) => {
          const repeated = reply.hasHeader('idempotency-replayed')
          count(request, metrics, repeated)
          if (!request.fault && !repeated) logRecorded(request)
          done(null, payload)
        }
      ]
    })
  },
  { name: 'submissions' }
)

function count({ submission, fault }: FastifyRequest, metrics: SubmissionMetrics, repeated: boolean): void {
  metrics.countSubmission({
    mode: submission?.mode ?? null,
    backend: submission?.backend ?? null,
    outcome: fault?.code ?? (repeated ? 'repeated' : 'accepted')
  })
  const refusal = fault?.cause as Partial<BudgetRefusal> | undefined
  if ((fault?.code === 'budget_exceeded' || fault?.code === 'spend_limit_exceeded') && refusal?.limit)
    metrics.countBudgetRejection(refusal.limit)
}

function logRecorded({ log, submission }: FastifyRequest): void {
  if (!submission?.recorded) return
  const { mode, backend, recorded } = submission
  log.info({ ...recorded, mode, backend }, 'job submitted')
}
