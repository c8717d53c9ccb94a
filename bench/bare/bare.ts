// The bare parts that the platform is compared with: Fastify, BullMQ and Temporal, each in its own process. The BullMQ
// consumer runs the same SQL steps; the Temporal worker runs as many activities, without SQL. Both call the executor.
import { join } from 'node:path'
import {
  bundleWorkflowCode,
  DefaultLogger,
  NativeConnection,
  Runtime,
  Worker as TemporalWorker
} from '@temporalio/worker'
import { Worker as QueueWorker } from 'bullmq'
import Fastify from 'fastify'
import pLimit from 'p-limit'
import { projectRoot } from '../../apps/cli/stack/project.js'
import { connect } from '../../db/client.js'
import { beginJob } from '../../db/job-steps/job-steps.js'
import { completePlainly } from '../../db/job-steps/plain-end.js'
import { loadJobRun } from '../../db/jobs/jobs.js'
import { DIRECT_QUEUE, type JobHandOver } from '../../domain/jobs/dispatch.js'
import { createExecutorClient, type ExecutorClient } from '../../services/executor/client.js'
import type { BareTask } from './bare-process.js'

if (process.send)
  process.once('message', (task: BareTask) => serve(task).then((address) => process.send?.(address ?? '')))

async function serve(task: BareTask): Promise<string | undefined> {
  switch (task.role) {
    case 'fastify':
      return serveFastify(task.body)
    case 'bullmq':
      return serveQueue(task)
    case 'temporal':
      await serveTemporal(task)
      return undefined
  }
}

async function serveFastify(body: string): Promise<string> {
  const app = Fastify()
  app.get('/api/backends', (_request, reply) => reply.type('application/json; charset=utf-8').send(body))
  return `${await app.listen({ host: '127.0.0.1', port: 0 })}/api/backends`
}

async function serveQueue(task: Extract<BareTask, { role: 'bullmq' }>): Promise<undefined> {
  const { db } = connect(task.databaseUrl, { max: 20 })
  const run = runner(createExecutorClient(task.executorUrl, task.executorToken), task.permits)
  const { hostname: host, port, password } = new URL(task.redisUrl)
  const worker = new QueueWorker<JobHandOver>(
    DIRECT_QUEUE,
    async ({ data: { jobId, generation } }) => {
      const fence = { generation }
      await beginJob(db, jobId, fence)
      const job = await loadJobRun(db, jobId)
      const result = await run(jobId, job!.sourceText)
      await completePlainly(db, jobId, fence, { ranMs: 0 }, { result })
    },
    {
      connection: { host, port: Number(port), password: decodeURIComponent(password), maxRetriesPerRequest: null },
      prefix: task.prefix,
      concurrency: task.permits,
      removeOnComplete: { count: 0 }
    }
  )
  await worker.waitUntilReady()
  return undefined
}

async function serveTemporal(task: Extract<BareTask, { role: 'temporal' }>): Promise<void> {
  Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [] })
  const workflowBundle = await bundleWorkflowCode({
    workflowsPath: join(projectRoot, 'bench/bare/bare-workflow.ts'),
    logger: new DefaultLogger('ERROR')
  })
  const connection = await NativeConnection.connect({ address: task.address })
  const worker = await TemporalWorker.create({
    connection,
    taskQueue: task.taskQueue,
    workflowBundle,
    activities: bareActivities(runner(createExecutorClient(task.executorUrl, task.executorToken), task.permits)),
    maxConcurrentActivityTaskExecutions: 200
  })
  worker.run()
}

type Run = (jobId: string, circuit: string) => Promise<string>

export const bareActivities = (run: Run) => ({
  begin: async (_jobId: string): Promise<void> => {},
  execute: async (jobId: string): Promise<void> => {
    await run(jobId, BELL)
  },
  complete: async (_jobId: string): Promise<void> => {}
})

export const BELL =
  'OPENQASM 3.0;\ninclude "stdgates.inc";\nqubit[2] q;\nbit[2] c;\nh q[0];\ncx q[0], q[1];\nc = measure q;\n'

/** One executor call, with at most as many at once as the executor has slots. */
function runner(executor: ExecutorClient, permits: number): Run {
  const atOnce = pLimit(permits)
  return (jobId, circuit) =>
    atOnce(async () => {
      const end = await executor.run(
        {
          run_id: jobId,
          source: { kind: 'circuit', format: 'qasm3', payload: circuit },
          backend: 'local',
          engine: 'statevector',
          max_qubits: 25,
          params: { shots: 1024 },
          limits: { wall_seconds: 120 }
        },
        new AbortController().signal,
        async () => true
      )
      if (end.kind !== 'completed') throw new Error(`the run did not complete: ${end.kind}`)
      return end.result
    })
}
