// One job of the emulated IBM Quantum.
import type { Caller } from './iam/accounts.js'
import type { JobBody } from './job-schema.js'
import type { JobTimes } from './job-times.js'
import type { JobFailure, Program } from './programs.js'

/** What tests change beyond the settings of every emulator. */
export interface IbmSettings {
  /** Jobs of others that wait for each device. */
  queueDepth: number
  /** How many POST /jobs a user can make in a minute. */
  startsPerMinute: number
  /** How long after its end the usage of a job stays pending. Applies to jobs submitted from now on. */
  usageLagMs: number
  /** The seconds of the machine that each new job needs; null: as its shots say. */
  qpuSeconds: number | null
  /** The seconds that the jobs of an instance can use before it takes no more; null: no limit. */
  usageLimitSeconds: number | null
}

/** A circuit of a job, and how often it runs. */
export interface Pub {
  readonly program: Program
  readonly shots: number
}

export interface Job extends JobTimes {
  readonly id: string
  readonly caller: Caller
  /** The CRN under which it was submitted, and alone can be found. */
  readonly instance: string
  readonly device: string
  readonly body: JobBody
  /** Empty if the job fails. */
  readonly pubs: readonly Pub[]
  readonly failure: JobFailure | null
  readonly shots: number
  /** The most seconds of the machine that it can use. */
  readonly cost: number
  /** The seconds of the machine that it needs. */
  readonly needsSeconds: number
  readonly usageLagMs: number
  readonly calibrationId: string
  readonly seed: number
  readonly noise: number
  tags: readonly string[]
  cancelledAt: number | null
}
