// The state of the dispatch targets, for operators: how much waits in them, and which workers serve them. Nothing is decided
// by it. Every call rejects while its target is away; calls to Temporal end within `DEADLINE_MS`.
import type { Client } from '@temporalio/client'
import type { Queue } from 'bullmq'
import { type JobHandOver, providerQueueOf, scheduleQueueOf } from '../../domain/jobs/dispatch.js'

/** Shorter than `GET /api/admin/system` waits, so that no call outlives its request. */
const DEADLINE_MS = 1_500

/** Temporal's numbers for the two kinds of tasks. */
const taskQueueTypes = { workflow: 1, activity: 2 } as const

export interface DirectQueueState {
  waiting: number
  active: number
  delayed: number
  /** Connections of workers that wait for entries. */
  workers: number
}

export interface TaskQueueState {
  /** Tasks that no worker has taken yet, as Temporal estimates them. */
  workflowTasks: number
  activityTasks: number
  /** The workers that polled for tasks in the last five minutes. */
  pollers: { identity: string; lastSeenAt: Date | null }[]
}

export interface TargetState {
  directQueue(): Promise<DirectQueueState>
  taskQueue(): Promise<TaskQueueState>
}

export function createTargetState(deps: {
  queue: Queue<JobHandOver>
  temporal: Client
  taskQueue: string
}): TargetState {
  const { queue, temporal } = deps
  const describe = (type: keyof typeof taskQueueTypes, name = deps.taskQueue) =>
    temporal.workflowService.describeTaskQueue({
      namespace: temporal.options.namespace,
      taskQueue: { name },
      taskQueueType: taskQueueTypes[type],
      reportStats: true
    })
  return {
    async directQueue() {
      const [counts, workers] = await Promise.all([
        queue.getJobCounts('waiting', 'active', 'delayed'),
        queue.getWorkersCount()
      ])
      const { waiting = 0, active = 0, delayed = 0 } = counts
      return { waiting, active, delayed, workers }
    },
    async taskQueue() {
      const [workflow, ...activities] = await temporal.withDeadline(Date.now() + DEADLINE_MS, () =>
        Promise.all([
          describe('workflow'),
          describe('activity'),
          describe('activity', providerQueueOf(deps.taskQueue)),
          describe('activity', scheduleQueueOf(deps.taskQueue))
        ])
      )
      const backlog = ({ stats }: typeof workflow) => Number(stats?.approximateBacklogCount ?? 0)
      const lastSeen = new Map<string, number | null>()
      for (const { identity, lastAccessTime } of [workflow, ...activities].flatMap(({ pollers }) => pollers)) {
        const at = lastAccessTime ? Number(lastAccessTime.seconds ?? 0) * 1000 : null
        lastSeen.set(identity ?? '', Math.max(at ?? 0, lastSeen.get(identity ?? '') ?? 0) || null)
      }
      return {
        workflowTasks: backlog(workflow),
        activityTasks: activities.map(backlog).reduce((sum, tasks) => sum + tasks, 0),
        pollers: [...lastSeen].map(([identity, at]) => ({ identity, lastSeenAt: at === null ? null : new Date(at) }))
      }
    }
  }
}
