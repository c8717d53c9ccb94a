// The jobs of the emulated workspaces. A job's status follows from its times and the emulated clock, and a result is computed at
// the first request for it.

import { type EmulatedClock, isoTime } from '../clock.js'
import type { LedgerTask, Timing } from '../provider.js'
import { courseOf, type TaskCourse } from '../task-times.js'
import { TimingSettings, timelineOf } from '../timeline.js'
import { actorOf, type Identity, type Workspace } from './identity/identities.js'
import { type AzureSettings, finalStatuses, type Job, type JobStatus, statusOf } from './job.js'
import type { Failure } from './programs/program.js'
import { resultBody } from './programs/results.js'
import type { Blob } from './storage/blobs.js'
import type { Place } from './storage/sas.js'
import type { Targets } from './targets.js'

/** Bounds the memory of a stack that uses the emulators for weeks. */
const jobsMax = 100_000
/** A result can have many megabytes; one that is read again later is computed again, and is the same. */
const resultsKept = 32

type NewJob = Pick<Job, 'id' | 'workspace' | 'request' | 'target' | 'program' | 'input' | 'output'> & {
  caller: Identity
}

export class JobStore {
  private jobs = new Map<string, Job>()
  private byOutput = new Map<string, Job>()
  private results = new Map<Job, Buffer>()
  private readonly timing: TimingSettings
  private noise = 0

  constructor(
    private readonly clock: EmulatedClock,
    private readonly targets: Targets,
    private readonly settings: AzureSettings,
    timing: Partial<Timing> = {}
  ) {
    this.timing = new TimingSettings(timing)
  }

  /** Null if the emulator is full. */
  create({ caller, ...given }: NewJob): Job | null {
    if (this.jobs.size >= jobsMax) return null
    const job: Job = {
      ...timelineOf(this.clock.now(), this.timing.current),
      ...given,
      createdBy: actorOf(caller),
      seed: this.jobs.size,
      noise: this.noise,
      costMs: this.settings.costMs,
      fails: given.program.kind === 'failed',
      cancelledAt: null,
      deleted: false
    }
    this.jobs.set(keyOf(job.workspace, job.id), job)
    this.byOutput.set(placeKey(job.output), job)
    return job
  }

  /** A deleted job's id is not free again. */
  get(workspace: Workspace, id: string): Job | null {
    return this.jobs.get(keyOf(workspace, id)) ?? null
  }

  /** Of one workspace, newest first. */
  list(workspace: Workspace): Job[] {
    return [...this.jobs.values()].filter((job) => job.workspace === workspace && !job.deleted).reverse()
  }

  course(job: Job): TaskCourse {
    return courseOf(job, this.targets.get(job.target.id)!.changes, this.clock.now())
  }

  status(job: Job): JobStatus {
    return statusOf[this.course(job).state]
  }

  failure(job: Job): Failure | null {
    const { state, stranded } = this.course(job)
    if (state !== 'FAILED') return null
    if (!stranded && job.program.kind === 'failed') return job.program.failure
    return { code: 'TargetUnavailable', message: `The target ${job.target.id} was retired.` }
  }

  /** False if it has already finished. */
  cancel(job: Job): boolean {
    if (finalStatuses.includes(this.status(job))) return false
    job.cancelledAt ??= this.clock.now()
    return true
  }

  /** False unless it has finished. */
  delete(job: Job): boolean {
    if (!finalStatuses.includes(this.status(job))) return false
    job.deleted = true
    return true
  }

  /** What it costs in US dollars; null until that is known. Nothing for a job without a result. */
  cost(job: Job): number | null {
    const { state, endedAt } = this.course(job)
    if (endedAt === null || this.clock.now() < endedAt + job.costMs) return null
    if (state !== 'COMPLETED' || job.program.kind === 'failed') return 0
    const { task, shot } = job.target.price
    return Math.round((task + shot * job.program.shots) * 1e6) / 1e6
  }

  /** The result of a job at this place; null until it can be read. */
  resultAt(place: Place): Blob | null {
    const job = this.byOutput.get(placeKey(place))
    const { resultAt = null } = job && !job.deleted ? this.course(job) : {}
    if (!job || resultAt === null || this.clock.now() < resultAt) return null
    let body = this.results.get(job)
    if (!body) {
      body = resultBody(job)
      this.results.set(job, body)
      if (this.results.size > resultsKept) this.results.delete(this.results.keys().next().value!)
    }
    return { body, type: 'application/json', encoding: null, modifiedAt: resultAt }
  }

  /** Every accepted job, oldest first, including deleted ones. */
  ledger(): LedgerTask[] {
    return [...this.jobs.values()].map((job) => {
      const { endedAt } = this.course(job)
      return {
        id: job.id,
        token: job.id,
        device: job.target.id,
        shots: job.program.kind === 'failed' ? 0 : job.program.shots,
        state: this.status(job),
        submitted_at: isoTime(job.submittedAt),
        completed_at: endedAt === null ? null : isoTime(endedAt),
        metadata: { ...job.request.metadata, name: job.request.name, workspace: job.workspace.name }
      }
    })
  }

  /** How long a job that is submitted now waits. */
  get queueMs(): number {
    return this.timing.current.queueMs
  }

  setTiming(timing: Partial<Timing>): void {
    this.timing.set(timing)
  }

  setNoise(level: number): void {
    this.noise = level
  }

  reset(): void {
    this.jobs.clear()
    this.byOutput.clear()
    this.results.clear()
    this.noise = 0
    this.timing.reset()
  }
}

const keyOf = ({ name }: Workspace, id: string): string => `${name} ${id.toLowerCase()}`
const placeKey = ({ account, container, blob }: Place): string => `${account}/${container}/${blob}`
