// The smallest durable workflow of a job: as many activities as runJob, of the same kinds, and nothing else.
import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow'
import type { bareActivities } from './bare.js'

const { begin, complete } = proxyLocalActivities<ReturnType<typeof bareActivities>>({
  startToCloseTimeout: '20 seconds'
})
const { execute } = proxyActivities<ReturnType<typeof bareActivities>>({
  startToCloseTimeout: '1 hour'
})

export async function bareJob(jobId: string): Promise<void> {
  await begin(jobId)
  await execute(jobId)
  await complete(jobId)
}
