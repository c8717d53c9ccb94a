// The metrics of this process. Labels have few values: an id, a path or another text that callers choose would fill the
// memory.
import { Counter, Histogram, Registry } from 'prom-client'
import type { StatusListener } from '../../../../db/jobs/status-changes.js'
import type { ErrorCode } from '../../../../domain/errors.js'
import type { ExecutionMode } from '../../../../domain/jobs/job-status.js'
import type { BudgetRefusal } from '../../../../domain/money/budget.js'
import { createJobMetrics } from '../../../../services/telemetry/job-metrics.js'

export interface HandledRequest {
  method: string
  /** The route's pattern (`/api/jobs/:id`), never the requested path: a label for each id would fill the memory. */
  route: string | undefined
  /** HTTP status. */
  status: number
  seconds: number
}

export interface SubmissionOutcome {
  /** `null` when it was refused before that was known. */
  mode: ExecutionMode | null
  /** The slug of a backend of the catalogue; `null` as above. */
  backend: string | null
  /** `repeated`: the stored response of an earlier request was sent again. */
  outcome: 'accepted' | 'repeated' | ErrorCode
}

export interface Metrics {
  registry: Registry
  /** Requests that went through uncounted because the store of the rate limits was unavailable, slow or failing. */
  rateLimitStoreFailures: Counter
  observeRequest(request: HandledRequest): void
  countSubmission(submission: SubmissionOutcome): void
  countBudgetRejection(limit: BudgetRefusal['limit']): void
  countStatusChange: StatusListener
}

/** Methods of routes. Any other counts as `other`, so that callers cannot create labels. */
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Creates a registry of its own, so that two apis in one process, as in tests, do not share figures. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  const durations = new Histogram({
    name: 'qjs_http_request_duration_seconds',
    help: 'Time from a request to the end of its response; status is its class, such as 2xx.',
    labelNames: ['method', 'route', 'status'] as const,
    // A waiting poll takes up to 22 s, a run in the playground up to 90 s.
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 100],
    registers: [registry]
  })
  const submissions = new Counter({
    name: 'qjs_submissions_total',
    help: 'Submissions of jobs; outcome is accepted, repeated (the response to an earlier request with the same Idempotency-Key), or the code of the refusal.',
    labelNames: ['mode', 'backend', 'outcome'] as const,
    registers: [registry]
  })
  const budgetRejections = new Counter({
    name: 'qjs_budget_rejections_total',
    help: 'Submissions refused because of money, by the limit that they would have exceeded: max_cost, key, capsule, per_job, per_suite, daily, monthly.',
    labelNames: ['limit'] as const,
    registers: [registry]
  })
  return {
    registry,
    rateLimitStoreFailures: new Counter({
      name: 'qjs_rate_limit_store_failures_total',
      help: 'Requests let through without a rate limit because Redis was away, slow or failing.',
      registers: [registry]
    }),
    observeRequest({ method, route, status, seconds }) {
      durations.observe(
        {
          method: methods.has(method) ? method : 'other',
          route: route ?? 'none',
          status: `${Math.floor(status / 100)}xx`
        },
        seconds
      )
    },
    countSubmission: ({ mode, backend, outcome }) =>
      submissions.inc({ mode: mode ?? 'none', backend: backend ?? 'none', outcome }),
    countBudgetRejection: (limit) => budgetRejections.inc({ limit }),
    countStatusChange: createJobMetrics(registry)
  }
}
