// The tasks of the emulated Braket. A task's state follows from its times and the emulated clock, and a result is computed at
// the first request for it.
import { randomUUID } from 'node:crypto'
import { type EmulatedClock, isoTime } from '../clock.js'
import type { LedgerTask, Timing } from '../provider.js'
import { courseOf, finalStates, type TaskCourse } from '../task-times.js'
import { TimingSettings, timelineOf } from '../timeline.js'
import type { StoredObject } from './aws/s3.js'
import type { Caller } from './aws/signature.js'
import type { Device, Devices } from './devices.js'
import type { Program } from './programs.js'
import { resultBody } from './results.js'
import { type BraketSettings, directoryOf, type Task, type TaskRequest } from './task.js'

/** Bounds the memory of a stack that uses the emulators for weeks. */
const tasksMax = 100_000
/** A result can have many megabytes; one that is read again later is computed again, and is the same. */
const resultsKept = 32

export class TaskStore {
  private tasks = new Map<string, Task>()
  private byPlace = new Map<string, Task>()
  private byToken = new Map<string, Task>()
  private results = new Map<Task, Buffer>()
  private readonly timing: TimingSettings
  private noise = 0

  constructor(
    private readonly clock: EmulatedClock,
    private readonly devices: Devices,
    private readonly settings: BraketSettings,
    timing: Partial<Timing> = {}
  ) {
    this.timing = new TimingSettings(timing)
  }

  /** The task that this account made with this token in this region. */
  withToken({ account, region }: Caller, clientToken: string): Task | null {
    return this.byToken.get(`${account} ${region} ${clientToken}`) ?? null
  }

  /** Null if the emulator is full. */
  create(caller: Caller, request: TaskRequest, sent: string, device: Device, program: Program): Task | null {
    if (this.tasks.size >= tasksMax) return null
    const id = randomUUID()
    const { account, region } = caller
    const task: Task = {
      ...timelineOf(this.clock.now(), this.timing.current),
      id,
      arn: `arn:aws:braket:${region}:${account}:quantum-task/${id}`,
      account,
      region,
      request,
      sent,
      device,
      program,
      seed: this.tasks.size,
      noise: this.noise,
      queueDepth: this.settings.queueDepth,
      failedShots: this.settings.failedShots,
      fails: 'failure' in program,
      cancelledAt: null
    }
    this.tasks.set(task.arn, task)
    this.byPlace.set(`${request.outputS3Bucket}/${resultKey(task)}`, task)
    this.byToken.set(`${account} ${region} ${request.clientToken}`, task)
    return task
  }

  get(arn: string): Task | null {
    return this.tasks.get(arn) ?? null
  }

  /** Of one account and region, newest first. */
  list({ account, region }: Caller): Task[] {
    return [...this.tasks.values()].filter((task) => task.account === account && task.region === region).reverse()
  }

  course(task: Task): TaskCourse {
    return courseOf(task, this.devices.get(task.device.arn)!.changes, this.clock.now())
  }

  failureReason(task: Task): string | null {
    const { state, stranded } = this.course(task)
    if (state !== 'FAILED') return null
    return stranded || !('failure' in task.program) ? 'The device was retired.' : task.program.failure
  }

  /** False if it has already finished. */
  cancel(task: Task): boolean {
    const { state } = this.course(task)
    if (finalStates.includes(state)) return false
    task.cancelledAt ??= this.clock.now()
    return true
  }

  /** How many tasks wait for the device before this one, counting those of others; null unless it waits. */
  position(task: Task): number | null {
    if (!this.waits(task)) return null
    const before = [...this.tasks.values()].filter(
      (other) => other.device.arn === task.device.arn && other.submittedAt < task.submittedAt && this.waits(other)
    )
    return task.queueDepth + before.length + 1
  }

  queueSize(device: Device): number {
    const own = [...this.tasks.values()].filter((task) => task.device.arn === device.arn && this.waits(task))
    return this.settings.queueDepth + own.length
  }

  private waits(task: Task): boolean {
    return ['CREATED', 'QUEUED'].includes(this.course(task).state)
  }

  /** The result of a completed task at this place; null until it can be read. */
  resultAt(bucket: string, key: string): StoredObject | null {
    const task = this.byPlace.get(`${bucket}/${key}`)
    const { resultAt = null, endedAt = null } = task ? this.course(task) : {}
    if (!task || resultAt === null || endedAt === null || this.clock.now() < resultAt) return null
    let body = this.results.get(task)
    if (!body) {
      body = resultBody(task, endedAt)
      this.results.set(task, body)
      if (this.results.size > resultsKept) this.results.delete(this.results.keys().next().value!)
    }
    return { body, type: 'application/json', modifiedAt: resultAt }
  }

  /** Every accepted task, oldest first. */
  ledger(): LedgerTask[] {
    return [...this.tasks.values()].map((task) => {
      const { state, endedAt } = this.course(task)
      return {
        id: task.arn,
        token: task.request.clientToken,
        device: task.device.arn,
        shots: task.request.shots,
        state,
        submitted_at: isoTime(task.submittedAt),
        completed_at: endedAt === null ? null : isoTime(endedAt),
        metadata: { ...task.request.tags, output: `s3://${task.request.outputS3Bucket}/${directoryOf(task)}` }
      }
    })
  }

  setTiming(timing: Partial<Timing>): void {
    this.timing.set(timing)
  }

  setNoise(level: number): void {
    this.noise = level
  }

  reset(): void {
    this.tasks.clear()
    this.byPlace.clear()
    this.byToken.clear()
    this.results.clear()
    this.noise = 0
    this.timing.reset()
  }
}

const resultKey = (task: Task): string => `${directoryOf(task)}/results.json`
