// The Temporal worker of this process. It survives an absent server at start and a fatal error of the worker: both are tried
// again, while the direct consumer and the relay continue.
import { setTimeout as sleep } from 'node:timers/promises'
import { NativeConnection, Worker } from '@temporalio/worker'
import type { Logger } from 'pino'
import type { CapsuleActivities } from '../../activities/capsule/capsule-activities.js'
import type { JobActivities } from '../../activities/job/job-activities.js'
import type { TaskActivities } from '../../activities/job/task-activities.js'
import type { ProviderActivities } from '../../activities/provider/provider-activities.js'
import type { Tracing } from '../../services/telemetry/tracing.js'

const RETRY_MS = 1_000

export interface TemporalWorker {
  isRunning(): boolean
  /** Waits for activities within the grace time, then cancels them; resolves when the worker has stopped. */
  close(): Promise<void>
}

export function startTemporalWorker(options: {
  address: string
  namespace: string
  taskQueue: string
  workflowBundle: string
  activities: JobActivities & ProviderActivities & TaskActivities & CapsuleActivities
  tracing: Tracing | null
  log: Logger
}): TemporalWorker {
  const { log } = options
  let closed = false
  let worker: Worker | null = null

  const running = (async () => {
    while (!closed) {
      let connection: NativeConnection | null = null
      try {
        connection = await NativeConnection.connect({ address: options.address })
        worker = await createWorker(connection, options)
        // A close during the creation of the worker found none to stop.
        if (closed) return
        await worker.run()
      } catch (err) {
        if (!closed) log.warn({ reason: (err as Error).message }, 'Temporal is away; trying again')
      } finally {
        worker = null
        await connection?.close().catch(() => {})
      }
      if (!closed) await sleep(RETRY_MS)
    }
  })()

  return {
    isRunning: () => worker?.getState() === 'RUNNING',
    async close() {
      closed = true
      if (worker?.getState() === 'RUNNING') worker.shutdown()
      await running
    }
  }
}

const createWorker = (
  connection: NativeConnection,
  options: {
    namespace: string
    taskQueue: string
    workflowBundle: string
    activities: JobActivities & ProviderActivities & TaskActivities & CapsuleActivities
    tracing: Tracing | null
  }
): Promise<Worker> =>
  Worker.create({
    connection,
    namespace: options.namespace,
    taskQueue: options.taskQueue,
    // The interceptors that trace workflows are part of the traced bundle.
    workflowBundle: { codePath: options.tracing ? tracedBundle(options.workflowBundle) : options.workflowBundle },
    ...options.tracing?.worker,
    activities: options.activities,
    // The workflows of a killed worker continue after one second instead of ten.
    stickyQueueScheduleToStartTimeout: '1s',
    // A cancellation reaches an activity with its heartbeat; this bounds the delay.
    maxHeartbeatThrottleInterval: '1s',
    defaultHeartbeatThrottleInterval: '1s',
    shutdownGraceTime: '20s',
    shutdownForceTime: '25s',
    // Most of them wait for a permit of the executor's gate, which costs a heartbeat.
    maxConcurrentActivityTaskExecutions: 200
  })

/** tools/build.mjs writes both next to each other. */
const tracedBundle = (workflowBundle: string): string => workflowBundle.replace(/(\.js)?$/, '-traced.js')
