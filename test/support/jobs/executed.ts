// Jobs that run without a worker process: the steps of a worker, with the real executor.
import { executeJob } from '../../../activities/job/execute-job.js'
import type { Db } from '../../../db/client.js'
import { beginJob, completeJob } from '../../../db/job-steps/job-steps.js'
import { completeAttempt, openAttempt } from '../../../db/jobs/attempts.js'
import { createExecutorClient } from '../../../services/executor/client.js'
import { gateTo } from './gate-to.js'

const fence = { generation: 1 }

/** Runs a pending job of mode `temporal` to its end. @throws Error unless it completes. */
export async function executeToEnd(db: Db, id: string): Promise<void> {
  await beginJob(db, id, fence, {})
  const executor = createExecutorClient(process.env.TEST_EXECUTOR_URL!, process.env.TEST_EXECUTOR_TOKEN!)
  const deps = {
    db,
    gate: gateTo(executor),
    announce: () => {},
    log: { info: () => {}, warn: () => {}, error: () => {} },
    countFault: () => {},
    countRepeatedStep: () => {}
  }
  const end = await executeJob(deps, id, fence, new AbortController().signal, { isFirst: true })
  await executor.close()
  if (end.outcome !== 'completed') throw new Error(`the run ended as ${JSON.stringify(end)}`)
  if (!end.ended) await completeJob(db, id, fence, end.resultSha256)
}

/** Completes a pending job with this result. */
export async function completeWith(db: Db, id: string, result: string): Promise<void> {
  await beginJob(db, id, fence, {})
  const attempt = await openAttempt(db, id, fence)
  await completeJob(db, id, fence, (await completeAttempt(db, id, attempt!, result))!)
}
