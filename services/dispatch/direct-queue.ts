// Adds entries to the direct queue, for the api's nudge and a worker's relay.
import { Queue } from 'bullmq'
import { DIRECT_QUEUE, type JobHandOver } from '../../domain/jobs/dispatch.js'
import { openRedis } from '../redis/redis-connection.js'
import type { RedisSettings } from '../redis/redis-settings.js'

export interface DirectQueue {
  queue: Queue<JobHandOver>
  /** Rejects while Redis is away. */
  ping(): Promise<unknown>
  close(): Promise<void>
}

/** A Redis that is connected and does not respond is left after this time; calls to it would pile up. */
const HUNG_MS = 5_000

/**
 * Connects in the background and stays usable while Redis is away: the call fails, and the outbox still has the job. An
 * entry is tried once and leaves no trace; Postgres has the outcome of its job.
 */
export function createDirectQueue(settings: RedisSettings, prefix: string): DirectQueue {
  const redis = openRedis(settings, {
    maxRetriesPerRequest: 1,
    // A search for the primary, and for the nodes of a cluster, counts no retries: calls would pile up in memory.
    enableOfflineQueue: settings.address.kind === 'server',
    socketTimeout: HUNG_MS
  })
  const queue = new Queue<JobHandOver>(DIRECT_QUEUE, {
    connection: redis,
    prefix,
    // It is asked for once, by a call that is not repeated when it fails. The workers look at the version.
    skipVersionCheck: true,
    defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true }
  })
  // As of the connection: each failed call reports to its caller.
  queue.on('error', () => {})
  return {
    queue,
    // Of the queue's own keys: another server of a cluster says nothing about them.
    ping: () => redis.exists(queue.toKey('meta')),
    async close() {
      await queue.close()
      redis.disconnect()
    }
  }
}
