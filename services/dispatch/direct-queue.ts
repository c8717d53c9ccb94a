// Adds entries to the direct queue, for the api's nudge and a worker's relay.
import { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { DIRECT_QUEUE, type JobHandOver } from '../../domain/jobs/dispatch.js'

export interface DirectQueue {
  queue: Queue<JobHandOver>
  /** Rejects while Redis is away. */
  ping(): Promise<unknown>
  close(): Promise<void>
}

/**
 * Connects in the background and stays usable while Redis is away: the call fails, and the outbox still has the job. An entry
 * is tried once and leaves no trace; Postgres has the outcome of its job.
 */
export function createDirectQueue(redisUrl: string, prefix: string): DirectQueue {
  const redis = new Redis(redisUrl, { maxRetriesPerRequest: 1 })
  const queue = new Queue<JobHandOver>(DIRECT_QUEUE, {
    connection: redis,
    prefix,
    defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true }
  })
  // Each failed call reports to its caller; unhandled events of the connection would stop the process.
  redis.on('error', () => {})
  queue.on('error', () => {})
  return {
    queue,
    ping: () => redis.ping(),
    async close() {
      await queue.close()
      redis.disconnect()
    }
  }
}
