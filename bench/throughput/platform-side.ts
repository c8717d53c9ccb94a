// The platform's side: api and worker as in production. Jobs are recorded as a submission records them and handed over by
// the api's own nudge, which does not wait for the relay's timer.
import { pino } from 'pino'
import { createNudge } from '../../apps/api/jobs/nudge.js'
import { searchAttributesWith, TEAM_RUNNING_JOBS } from '../../domain/jobs/dispatch.js'
import { createDirectQueue } from '../../services/dispatch/direct-queue.js'
import { createDispatcher } from '../../services/dispatch/dispatcher.js'
import { createTemporalClient } from '../../services/dispatch/temporal-client.js'
import { readRedisSettings } from '../../services/redis/redis-settings.js'
import type { BenchStack, ExecutorAddress } from '../support/bench-stack.js'
import { recordBacklog, untilCompleted } from './backlog.js'
import type { ThroughputSide } from './side.js'

export type Mode = 'direct' | 'temporal'

const REDELIVER_SECONDS = 30

export async function startPlatformSide(
  stack: BenchStack,
  name: string,
  executor: ExecutorAddress,
  mode: Mode
): Promise<ThroughputSide> {
  const platform = await stack.platform(name, executor)
  const { db } = platform.connection
  const directQueue = createDirectQueue(readRedisSettings({ REDIS_URL: stack.redisUrl }), name)
  const temporal = createTemporalClient({ address: stack.temporalAddress }, 'default')
  const log = pino({ level: 'warn' }, pino.destination(2))
  const nudge = createNudge({
    db,
    dispatcher: createDispatcher({
      db,
      temporal: temporal.client,
      taskQueue: name,
      searchAttributes: searchAttributesWith(''),
      queue: directQueue.queue,
      // Only cancels are announced, and no job of a bench is cancelled.
      announce: () => {},
      log
    }),
    announce: () => {},
    log,
    redeliverSeconds: REDELIVER_SECONDS,
    teamRunningMax: TEAM_RUNNING_JOBS
  })
  await platform.startWorker()
  let recorded = 0
  return {
    async prepare(count) {
      const ids = await recordBacklog(platform, mode, count)
      recorded += count
      return async () => {
        for (const id of ids) nudge(id, mode)
        await untilCompleted(platform, recorded)
      }
    },
    async close() {
      await nudge.close()
      await Promise.all([directQueue.close(), temporal.close()])
      await platform.close()
    }
  }
}
