// The bare sides: the dispatch target used plainly, each in a process of its own (bench/bare/bare.ts).
import { Client, Connection } from '@temporalio/client'
import { Queue } from 'bullmq'
import { DIRECT_QUEUE, type JobHandOver } from '../../domain/jobs/dispatch.js'
import { createExecutorClient } from '../../services/executor/client.js'
import { startBare } from '../bare/bare-process.js'
import { type BenchStack, EXECUTOR_TOKEN, type ExecutorAddress } from '../support/bench-stack.js'
import { recordBacklog, untilCompleted } from './backlog.js'
import type { ThroughputSide } from './side.js'

/** BullMQ and the SQL of a direct job. Its platform provides the database; no worker of the platform runs. */
export async function startBareQueueSide(
  stack: BenchStack,
  name: string,
  executor: ExecutorAddress
): Promise<ThroughputSide> {
  const platform = await stack.platform(name, executor)
  const bare = await startBare({
    role: 'bullmq',
    databaseUrl: platform.settings.DATABASE_URL!,
    redisUrl: stack.redisUrl,
    prefix: name,
    ...(await callsTo(executor))
  })
  const { hostname: host, port, password } = new URL(stack.redisUrl)
  const queue = new Queue<JobHandOver>(DIRECT_QUEUE, {
    connection: { host, port: Number(port), password: decodeURIComponent(password) },
    prefix: name
  })
  let recorded = 0
  return {
    async prepare(count) {
      const ids = await recordBacklog(platform, 'direct', count)
      recorded += count
      return async () => {
        await queue.addBulk(ids.map((jobId) => ({ name: 'run', data: { jobId, generation: 1 } })))
        await untilCompleted(platform, recorded)
      }
    },
    async close() {
      bare.stop()
      await queue.close()
      await platform.close()
    }
  }
}

/** A workflow with as many activities as a job's, without SQL. */
export async function startBareTemporalSide(
  stack: BenchStack,
  name: string,
  executor: ExecutorAddress
): Promise<ThroughputSide> {
  const bare = await startBare({
    role: 'temporal',
    address: stack.temporalAddress,
    taskQueue: name,
    ...(await callsTo(executor))
  })
  const connection = await Connection.connect({ address: stack.temporalAddress })
  const client = new Client({ connection })
  let next = 0
  const runOne = async () => {
    const id = String(next++)
    await client.workflow.execute('bareJob', {
      args: [id],
      taskQueue: name,
      workflowId: `${name}-${id}`,
      workflowExecutionTimeout: '5m'
    })
  }
  return {
    prepare: async (count) => async () => {
      await Promise.all(Array.from({ length: count }, runOne))
    },
    async close() {
      bare.stop()
      await connection.close()
    }
  }
}

/** How a bare process calls the executor, with as many calls at once as the executor has slots. */
async function callsTo(
  executor: ExecutorAddress
): Promise<{ executorUrl: string; executorToken: string; permits: number }> {
  const client = createExecutorClient(executor.url, EXECUTOR_TOKEN)
  const { slots } = await client.health()
  await client.close()
  return { executorUrl: executor.url, executorToken: EXECUTOR_TOKEN, permits: slots.total }
}
