// The Temporal workers of this process. They survive an absent server at start and a fatal error of a worker: both are tried
// again, while the direct consumer and the relay continue.
import { setTimeout as sleep } from 'node:timers/promises'
import type { WorkerDeploymentVersion } from '@temporalio/common'
import { NativeConnection, Worker } from '@temporalio/worker'
import type { Logger } from 'pino'
import type { CapsuleActivities } from '../../activities/capsule/capsule-activities.js'
import type { JobActivities } from '../../activities/job/job-activities.js'
import type { TaskActivities } from '../../activities/job/task-activities.js'
import { PROVIDER_STEPS_AT_ONCE, type ProviderActivities } from '../../activities/provider/provider-activities.js'
import { providerQueueOf, scheduleQueueOf } from '../../domain/jobs/dispatch.js'
import type { TemporalSecurity } from '../../services/dispatch/temporal-security.js'
import { historyErrors } from '../../services/dispatch/workflow-look.js'
import { ACTIVITY_SLOTS } from '../../services/executor/gate.js'
import type { Tracing } from '../../services/telemetry/tracing.js'

const RETRY_MS = 1_000
const LOOKS_AT_ONCE = 20
const SCHEDULE_STEPS_AT_ONCE = 20

export interface TemporalWorker {
  isRunning(): boolean
  /** Waits for activities within the grace time, then cancels them; resolves when the worker has stopped. */
  close(): Promise<void>
}

interface TemporalWorkerOptions {
  target: { address: string } & TemporalSecurity
  namespace: string
  taskQueue: string
  workflowBundle: string
  /** Of the workflow code; `null`: the worker runs workflows of all versions. */
  version: WorkerDeploymentVersion | null
  activities: JobActivities & ProviderActivities & TaskActivities & CapsuleActivities
  tracing: Tracing | null
  log: Logger
}

export function startTemporalWorker(options: TemporalWorkerOptions): TemporalWorker {
  const { log } = options
  let closed = false
  let workers: Worker[] = []
  const shutDown = () => {
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown()
  }

  const running = (async () => {
    while (!closed) {
      let connection: NativeConnection | null = null
      try {
        connection = await NativeConnection.connect(options.target)
        workers = await createWorkers(connection, options)
        // A close during the creation of the workers found none to stop.
        if (closed) return
        // One that fails takes the others with it: all are created again.
        const ends = workers.map((worker) => worker.run().finally(shutDown))
        await Promise.all(ends).finally(() => Promise.allSettled(ends))
      } catch (err) {
        if (!closed) log.warn({ reason: (err as Error).message }, 'Temporal is away; trying again')
      } finally {
        workers = []
        await connection?.close().catch(() => {})
      }
      if (!closed) await sleep(RETRY_MS)
    }
  })()

  return {
    isRunning: () => workers.length > 0 && workers.every((worker) => worker.getState() === 'RUNNING'),
    async close() {
      closed = true
      shutDown()
      await running
    }
  }
}

/**
 * One for workflows and the executor's work, one for the steps at providers, and one for scheduled verifications: no kind waits
 * in the slots of another. Steps in the database are local activities, whose slots are their own too.
 */
function createWorkers(connection: NativeConnection, options: TemporalWorkerOptions): Promise<Worker[]> {
  const { tracing, activities } = options
  const shared = {
    connection,
    namespace: options.namespace,
    activities,
    ...tracing?.worker,
    ...(options.version && {
      workerDeploymentOptions: {
        version: options.version,
        useWorkerVersioning: true as const,
        defaultVersioningBehavior: 'AUTO_UPGRADE' as const
      }
    }),
    // A cancellation reaches an activity with its heartbeat; this bounds the delay.
    maxHeartbeatThrottleInterval: '1s',
    defaultHeartbeatThrottleInterval: '1s',
    shutdownGraceTime: '20s',
    shutdownForceTime: '25s'
  } as const
  return Promise.all([
    Worker.create({
      ...shared,
      taskQueue: options.taskQueue,
      // The interceptors that trace workflows are part of the traced bundle.
      workflowBundle: { codePath: tracing ? tracedBundle(options.workflowBundle) : options.workflowBundle },
      // Code that does not match a history would fail each try of its task, and the job would stand still. The sweep of
      // stalled workflows gives it another workflow.
      workflowFailureErrorTypes: { '*': [...historyErrors] },
      // How long the workflows of a killed worker wait for it. A worker that is busy for longer would lose its cached
      // workflows, and read all their histories again.
      stickyQueueScheduleToStartTimeout: '5s',
      // Most of them wait in the line of the executor's gate, which is shorter (services/executor/gate.ts). Those that call a
      // provider before it, for the description of a device, come on top: a provider that hangs takes no slot of other jobs.
      maxConcurrentActivityTaskExecutions: ACTIVITY_SLOTS + PROVIDER_STEPS_AT_ONCE
    }),
    Worker.create({
      ...shared,
      taskQueue: providerQueueOf(options.taskQueue),
      // Each is one request to a provider, or one read of the database. Reads come on top of the teams' shares.
      maxConcurrentActivityTaskExecutions: PROVIDER_STEPS_AT_ONCE + LOOKS_AT_ONCE
    }),
    Worker.create({
      ...shared,
      taskQueue: scheduleQueueOf(options.taskQueue),
      maxConcurrentActivityTaskExecutions: SCHEDULE_STEPS_AT_ONCE
    })
  ])
}

/** tools/build.mjs writes both next to each other. */
const tracedBundle = (workflowBundle: string): string => workflowBundle.replace(/(\.js)?$/, '-traced.js')
