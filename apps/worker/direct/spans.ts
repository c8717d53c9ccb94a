// Spans of the worker: a direct job is a child of the request that submitted it, and calls to the executor are children of
// the job. (Temporal's own interceptors trace workflows and their activities.)

import type { Db } from '../../../db/client.js'
import { loadTraceParent } from '../../../db/jobs/jobs.js'
import type { JobHandOver } from '../../../domain/jobs/dispatch.js'
import type { ExecutorClient } from '../../../services/executor/client.js'
import type { Tracing } from '../../../services/telemetry/tracing.js'

/** Runs a direct job in a span of its own. */
export type AroundDirect = (handOver: JobHandOver, work: () => Promise<void>) => Promise<void>

export const directSpans =
  (db: Db, tracing: Tracing | null): AroundDirect =>
  async ({ jobId, generation }, work) => {
    if (!tracing) return work()
    // A job runs even if its trace cannot be read.
    const parent = await loadTraceParent(db, jobId).catch(() => null)
    const attributes = { 'job.id': jobId, 'job.generation': generation }
    return tracing.span('RunDirect:runJob', { kind: 'consumer', parent, attributes }, work)
  }

export function tracedExecutor(executor: ExecutorClient, tracing: Tracing | null): ExecutorClient {
  if (!tracing) return executor
  return {
    ...executor,
    async reserve(wanted, signal) {
      const reserved = await executor.reserve(wanted, signal)
      return reserved.kind === 'reserved'
        ? { ...reserved, executor: tracedExecutor(reserved.executor, tracing) }
        : reserved
    },
    run: (run, signal, accepted, printed) =>
      tracing.span('executor run', { attributes: { 'job.id': run.run_id, 'job.backend': run.backend } }, () =>
        executor.run(run, signal, accepted, printed)
      ),
    compile: (request, signal) =>
      tracing.span('executor compile', { attributes: { 'job.backend': request.backend } }, () =>
        executor.compile(request, signal)
      )
  }
}
