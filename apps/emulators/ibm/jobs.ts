// The jobs of the emulated IBM Quantum. A job's state follows from its times and the emulated clock, and a result is computed
// at the first request for it.
import { randomBytes } from 'node:crypto'
import { type EmulatedClock, isoTime } from '../clock.js'
import type { LedgerTask, Timing } from '../provider.js'
import { TimingSettings, timelineOf } from '../timeline.js'
import type { Devices } from './devices.js'
import type { Caller } from './iam/accounts.js'
import type { IbmSettings, Job } from './job.js'
import type { JobBody } from './job-schema.js'
import { courseOf, finalStates, type JobCourse } from './job-times.js'
import type { JobFailure } from './programs.js'
import type { ReadPubs } from './pubs.js'
import { resultBody } from './results.js'

/** Bounds the memory of a stack that uses the emulators for weeks. */
const jobsMax = 100_000
/** A result can have many megabytes; one that is read again later is computed again, and is the same. */
const resultsKept = 32
/** The most seconds of the machine that a job can ask for. */
const costMax = 10_800
/** IBM's default of its open plan. */
const costDefault = 600

export interface Usage {
  seconds: number
  isPending: boolean
}

export class JobStore {
  private jobs = new Map<string, Job>()
  /** Deleted jobs stay in the ledger. */
  private deleted = new Set<string>()
  private results = new Map<Job, string>()
  private readonly timing: TimingSettings
  private noise = 0
  /** Each change of the noise is a new calibration. */
  private calibration = 1

  constructor(
    private readonly clock: EmulatedClock,
    private readonly devices: Devices,
    private readonly settings: IbmSettings,
    timing: Partial<Timing> = {}
  ) {
    this.timing = new TimingSettings(timing)
  }

  /** Null if the emulator is full. */
  create(caller: Caller, instance: string, body: JobBody, { pubs, failure, shots }: ReadPubs): Job | null {
    if (this.jobs.size >= jobsMax) return null
    const timeline = timelineOf(this.clock.now(), this.timing.current)
    const cost = Math.min(body.cost ?? costDefault, costMax)
    const needsSeconds = this.settings.qpuSeconds ?? secondsFor(shots)
    const runMs = timeline.endsAt - timeline.startsAt
    const job: Job = {
      ...timeline,
      id: newId(),
      caller,
      instance,
      device: body.backend,
      body,
      pubs: failure ? [] : pubs,
      failure,
      shots,
      cost,
      needsSeconds,
      usageLagMs: this.settings.usageLagMs,
      calibrationId: this.calibrationId(body.backend),
      seed: this.jobs.size,
      noise: this.noise,
      fails: failure !== null,
      stopsAfterMs: needsSeconds > cost ? (runMs * cost) / needsSeconds : null,
      tags: body.tags ?? [],
      cancelledAt: null
    }
    this.jobs.set(job.id, job)
    return job
  }

  /** One that exists in this instance. */
  get(id: string, instance: string): Job | null {
    const job = this.jobs.get(id)
    return job?.instance === instance && !this.deleted.has(id) ? job : null
  }

  /** Of one instance, oldest first. */
  list(instance: string): Job[] {
    return [...this.jobs.values()].filter((job) => job.instance === instance && !this.deleted.has(job.id))
  }

  course(job: Job): JobCourse {
    return courseOf(job, this.devices.get(job.device)!.changes, this.clock.now())
  }

  isFinal(job: Job): boolean {
    return finalStates.includes(this.course(job).state)
  }

  failure(job: Job): JobFailure | null {
    const { state, stranded } = this.course(job)
    if (state !== 'Failed') return null
    return stranded ? { reason: `The backend ${job.device} was retired.`, code: null } : job.failure
  }

  /** What an ended job used; null before its end. */
  usage(job: Job): Usage | null {
    const { state, startedAt, endedAt, ranTooLong } = this.course(job)
    if (endedAt === null) return null
    if (startedAt === null) return { seconds: 0, isPending: false }
    const isPending = this.clock.now() < endedAt + job.usageLagMs
    if (ranTooLong) return { seconds: job.cost, isPending }
    const share = state === 'Completed' ? 1 : (endedAt - startedAt) / (job.endsAt - job.startsAt)
    return { seconds: Math.ceil(job.needsSeconds * share), isPending }
  }

  /** The seconds that the jobs of an instance have used. */
  usedSeconds(instance: string): number {
    const own = [...this.jobs.values()].filter((job) => job.instance === instance)
    return own.reduce((sum, job) => sum + (this.usage(job)?.seconds ?? 0), 0)
  }

  /** False if it has already ended. */
  cancel(job: Job): boolean {
    if (this.isFinal(job)) return false
    job.cancelledAt = this.clock.now()
    return true
  }

  delete(job: Job): void {
    this.deleted.add(job.id)
  }

  /** The result of a completed job; null until it can be read. */
  result(job: Job): string | null {
    const { resultAt, startedAt, endedAt } = this.course(job)
    if (resultAt === null || this.clock.now() < resultAt) return null
    let body = this.results.get(job)
    if (body === undefined) {
      body = resultBody(job, startedAt!, endedAt!)
      this.results.set(job, body)
      if (this.results.size > resultsKept) this.results.delete(this.results.keys().next().value!)
    }
    return body
  }

  /** How many jobs wait for a device, counting those of others. */
  queueLength(device: string): number {
    const own = [...this.jobs.values()].filter((job) => job.device === device && this.course(job).state === 'Queued')
    return this.settings.queueDepth + own.length
  }

  calibrationId(device: string): string {
    return `${device}-calibration-${this.calibration}`
  }

  ledger(): LedgerTask[] {
    return [...this.jobs.values()].map((job) => {
      const { state, endedAt } = this.course(job)
      return {
        id: job.id,
        token: job.body.tags?.[0] ?? null,
        device: job.device,
        shots: job.shots,
        state,
        submitted_at: isoTime(job.submittedAt),
        completed_at: endedAt === null ? null : isoTime(endedAt),
        metadata: { tags: job.tags.join(' '), user: job.caller.user, cost: String(job.cost) }
      }
    })
  }

  setTiming(timing: Partial<Timing>): void {
    this.timing.set(timing)
  }

  setNoise(level: number): void {
    this.noise = level
    this.calibration += 1
  }

  reset(): void {
    this.jobs.clear()
    this.deleted.clear()
    this.results.clear()
    this.noise = 0
    this.calibration = 1
    this.timing.reset()
  }
}

/** A second to load the circuits, and a shot each 250 microseconds, the repetition delay of these machines. */
const secondsFor = (shots: number): number => 1 + Math.ceil(shots * 250e-6)

/** Twenty letters and digits, as IBM's. */
const newId = (): string => [...randomBytes(20)].map((byte) => (byte & 31).toString(32)).join('')
