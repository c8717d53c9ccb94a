// The jobs of the emulated IonQ. A job's state follows from its times and the emulated clock: nothing runs in the background,
// and a result is computed at the first request for it.
import { randomUUID } from 'node:crypto'
import { type EmulatedClock, isoTime } from '../clock.js'
import { startOf } from '../device-changes.js'
import type { LedgerTask, Timing } from '../provider.js'
import { type Timeline, TimingSettings, timelineOf } from '../timeline.js'
import { type Program, readCircuit, type WireCircuit } from './circuit.js'
import { type Device, stateOfDevice } from './devices.js'
import { JobFailure } from './failure.js'
import type { JobRequest } from './job-schema.js'
import { readQasm } from './qasm3.js'
import { assertRunnable, countOutcomes, drawShots, runExactly } from './run.js'

export type JobState = 'submitted' | 'ready' | 'started' | 'completed' | 'failed' | 'canceled'
export const finalStates: readonly JobState[] = ['completed', 'failed', 'canceled']

export interface Result {
  /** By outcome, ascending. */
  probabilities: Map<number, number>
  /** Counts of sampled devices; null on the exact simulator. */
  counts: Map<number, number> | null
}

export interface Job extends Timeline {
  readonly id: string
  readonly type: JobRequest['type']
  readonly device: Device
  readonly request: JobRequest
  readonly parentId: string | null
  readonly children: Job[]
  readonly seed: number
  /** The share of shots that return a random outcome. */
  readonly noise: number
  canceledAt: number | null
  deleted: boolean
}

/** What a device was measured to be at a time. */
export interface Characterization {
  readonly id: string
  readonly at: number
  readonly noise: number
}

/** The cost of a job in US dollars: the emulator's own tariff. */
const tariff = { task: 0.3, shot: 0.01 }
/** Bounds the memory of a stack that uses the emulators for weeks. */
const jobsMax = 100_000
const characterizationsMax = 1_000

export class JobStore {
  private jobs = new Map<string, Job>()
  private programs = new WeakMap<Job, Program | JobFailure>()
  private results = new WeakMap<Job, Result>()
  private accepted = 0
  private readonly timing: TimingSettings
  private noise = 0
  private measured: Characterization[] = []

  constructor(
    private readonly clock: EmulatedClock,
    timing: Partial<Timing> = {}
  ) {
    this.timing = new TimingSettings(timing)
  }

  /** Creates a new job for every call, even for an equal body; null if the emulator is full. */
  submit(request: JobRequest, device: Device): Job | null {
    if (this.jobs.size >= jobsMax) return null
    const parent = this.add(request, device, null)
    if (request.type === 'ionq.multi-circuit.v1') {
      for (const { name, ...circuit } of request.circuits) {
        const { circuits: _circuits, ...shared } = request
        const input: WireCircuit = circuit
        const own = { ...shared, type: 'ionq.circuit.v1', input, name: name ?? null, metadata: null } as const
        parent.children.push(this.add(own, device, parent))
      }
    }
    return parent
  }

  private add(request: JobRequest, device: Device, parent: Job | null): Job {
    const submittedAt = parent?.submittedAt ?? this.clock.now()
    const seed = request.noise?.seed ?? this.accepted
    this.accepted += 1
    const job: Job = {
      id: randomUUID(),
      type: request.type,
      device,
      request,
      parentId: parent?.id ?? null,
      children: [],
      ...timelineOf(submittedAt, this.timing.current),
      seed,
      noise: this.noise,
      canceledAt: null,
      deleted: false
    }
    this.jobs.set(job.id, job)
    return job
  }

  get(id: string): Job | null {
    const job = this.jobs.get(id)
    return job && !job.deleted ? job : null
  }

  /** Newest first. */
  list(): Job[] {
    return [...this.jobs.values()].filter(({ deleted }) => !deleted).reverse()
  }

  state(job: Job): JobState {
    const now = this.clock.now()
    const { startsAt, endsAt, retiredAt } = this.course(job)
    if (job.canceledAt !== null) return 'canceled'
    if (now < job.readyAt && now < retiredAt) return 'submitted'
    // Errors that compiling reveals fail the job before it waits for the device.
    if (this.failure(job)) return 'failed'
    if (now < startsAt) return 'ready'
    if (now < endsAt) return 'started'
    return 'completed'
  }

  /** The times of the job, which waits while its device is unavailable, and the one at which it lost its device. */
  course({ device, submittedAt, startsAt: due, endsAt, resultAt }: Job) {
    const { startsAt, retiredAt } = startOf({ due, submittedAt }, device.changes, (status) => stateOfDevice[status])
    const waited = startsAt - due
    return { startsAt, endsAt: endsAt + waited, resultAt: resultAt + waited, retiredAt }
  }

  /** Why the job fails: known after its circuits are checked, or because its device was retired before it started. */
  failure(job: Job): JobFailure | null {
    const failure = this.programFailure(job)
    if (failure || this.clock.now() < this.course(job).retiredAt) return failure
    return new JobFailure('SystemCancel', `The device ${job.device.name} was retired.`)
  }

  private programFailure(job: Job): JobFailure | null {
    if (job.children.length > 0) return first(job.children.map((child) => this.programFailure(child)))
    const program = this.program(job)
    return program instanceof JobFailure ? program : null
  }

  /** The result of a completed job that ran its own circuit. */
  result(job: Job): Result | null {
    const program = this.finished(job)
    if (!program) return null
    const known = this.results.get(job)
    if (known) return known
    const result = resultOf(program, job)
    this.results.set(job, result)
    return result
  }

  /** The outcome of every shot, in order; null as for `result`, and on the exact simulator. */
  shots(job: Job): number[] | null {
    const program = this.finished(job)
    return program && !job.device.exact ? drawShots(runExactly(program), job.request.shots, job) : null
  }

  /** When it started and ended, if it has. */
  times(job: Job): { startedAt: number | null; endedAt: number | null } {
    const state = this.state(job)
    if (state === 'canceled') return { startedAt: null, endedAt: job.canceledAt }
    const { startsAt, endsAt, retiredAt } = this.course(job)
    if (state === 'failed') return { startedAt: null, endedAt: this.programFailure(job) ? job.readyAt : retiredAt }
    return {
      startedAt: this.clock.now() < startsAt ? null : startsAt,
      endedAt: finalStates.includes(state) ? endsAt : null
    }
  }

  /** Cancels the job and its children; false if it has already finished. */
  cancel(job: Job): boolean {
    if (this.state(job) === 'canceled') return true
    if (finalStates.includes(this.state(job))) return false
    for (const one of [job, ...job.children]) one.canceledAt = this.clock.now()
    return true
  }

  /** Removes the job from the api, not from the ledger. A job in progress is canceled. */
  delete(job: Job): void {
    this.cancel(job)
    for (const one of [job, ...job.children]) one.deleted = true
  }

  /** The actual cost in US dollars; null until the job has finished. */
  cost(job: Job): number | null {
    const state = this.state(job)
    if (!finalStates.includes(state)) return null
    return state === 'completed' ? this.estimate(job) : 0
  }

  /** The cost in US dollars if it completes. */
  estimate(job: Job): number {
    if (job.device.exact || job.request.dryRun) return 0
    return Math.max(1, job.children.length) * priceOf(job.device, job.request.shots)
  }

  /** The gates on one qubit and on several. */
  gateCounts(job: Job): { '1q': number; '2q': number } {
    const programs = [job, ...job.children].flatMap((one) => {
      const program = one.type === 'ionq.multi-circuit.v1' ? null : this.program(one)
      return program === null || program instanceof JobFailure ? [] : [program]
    })
    const sizes = programs.flatMap(({ operations }) =>
      operations.map(({ targets, controls }) => targets.length + controls.length)
    )
    return { '1q': sizes.filter((size) => size === 1).length, '2q': sizes.filter((size) => size > 1).length }
  }

  qubits(job: Job): number {
    if (job.children.length > 0) return Math.max(...job.children.map((child) => this.qubits(child)))
    const program = this.program(job)
    return program instanceof JobFailure ? 0 : program.qubits
  }

  /** Every accepted job, oldest first; a multi-circuit job is one task. */
  ledger(): LedgerTask[] {
    return [...this.jobs.values()]
      .filter(({ parentId }) => parentId === null)
      .map((job) => {
        const { endedAt } = this.times(job)
        return {
          id: job.id,
          token: tokenOf(job.request.metadata ?? {}),
          device: job.device.name,
          shots: job.request.shots,
          state: this.state(job),
          submitted_at: isoTime(job.submittedAt),
          completed_at: endedAt === null ? null : isoTime(endedAt),
          metadata: job.request.metadata ?? {}
        }
      })
  }

  /** How long a task submitted now waits. */
  get queueMs(): number {
    return this.timing.current.queueMs
  }

  setTiming(timing: Partial<Timing>): void {
    this.timing.set(timing)
  }

  /** Newest first. The machine is measured when it changes. */
  characterizations(): readonly Characterization[] {
    if (this.measured.length === 0) this.measure(0)
    return this.measured
  }

  private measure(at: number): void {
    this.measured = [{ id: randomUUID(), at, noise: this.noise }, ...this.measured].slice(0, characterizationsMax)
  }

  setNoise(level: number): void {
    this.characterizations()
    this.noise = level
    this.measure(this.clock.now())
  }

  reset(): void {
    this.jobs.clear()
    this.noise = 0
    this.measured = []
    this.accepted = 0
    this.timing.reset()
  }

  private finished(job: Job): Program | null {
    if (this.state(job) !== 'completed' || job.request.dryRun || job.children.length > 0) return null
    if (this.clock.now() < this.course(job).resultAt) return null
    const program = this.program(job)
    return program instanceof JobFailure ? null : program
  }

  private program(job: Job): Program | JobFailure {
    let program = this.programs.get(job)
    if (!program) {
      program = readProgram(job)
      this.programs.set(job, program)
    }
    return program
  }
}

function readProgram({ request, device }: Job): Program | JobFailure {
  if (request.type === 'ionq.multi-circuit.v1') throw new Error('a job of several circuits has no program of its own')
  try {
    if (request.noise && request.noise.model !== 'ideal')
      throw new JobFailure('SimulationError', `This emulator has no noise model ${request.noise.model}.`)
    const program =
      request.type === 'ionq.qasm3.v1' ? readQasm(request.input.data, device) : readCircuit(request.input, device)
    assertRunnable(program)
    return program
  } catch (error) {
    if (error instanceof JobFailure) return error
    throw error
  }
}

function resultOf(program: Program, job: Job): Result {
  const { device, request } = job
  const exact = runExactly(program)
  if (device.exact) {
    const probabilities = new Map(exact.outcomes.map((outcome, index) => [outcome, exact.probabilities[index]!]))
    return { probabilities, counts: null }
  }
  const { shots } = request
  const counts = countOutcomes(drawShots(exact, shots, job))
  return { probabilities: new Map([...counts].map(([outcome, count]) => [outcome, count / shots])), counts }
}

/** In US dollars, for one circuit. */
export const priceOf = (device: Device, shots: number): number =>
  device.exact ? 0 : Math.round((tariff.task + tariff.shot * shots) * 1e6) / 1e6

const first = (failures: (JobFailure | null)[]): JobFailure | null =>
  failures.find((failure) => failure !== null) ?? null

/** The metadata entry by which the submitter finds its job: the one with a matching name, or else the only one. */
function tokenOf(metadata: Record<string, string>): string | null {
  const entries = Object.entries(metadata)
  const named = entries.find(([key]) => /token/i.test(key))
  return named?.[1] ?? (entries.length === 1 ? entries[0]![1] : null)
}
