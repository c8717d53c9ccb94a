// When a task waits, runs and ends. A task's state follows from these times and the emulated clock: nothing runs in the
// background.
import type { Timing } from './provider.js'

const defaultTiming: Timing = { queueMs: 40, runMs: 20, resultLagMs: 0 }
/** The longest time between submission and the end of the checks. */
const checkMsMax = 1000

export interface Timeline {
  readonly submittedAt: number
  /** The provider has checked the task, and it waits for the device. */
  readonly readyAt: number
  readonly startsAt: number
  readonly endsAt: number
  readonly resultAt: number
}

export function timelineOf(submittedAt: number, { queueMs, runMs, resultLagMs }: Timing): Timeline {
  const startsAt = submittedAt + queueMs
  const endsAt = startsAt + runMs
  const readyAt = submittedAt + Math.min(queueMs / 4, checkMsMax)
  return { submittedAt, readyAt, startsAt, endsAt, resultAt: endsAt + resultLagMs }
}

/** The timing of tasks that are submitted now. */
export class TimingSettings {
  private changed: Partial<Timing> = {}

  constructor(private readonly atStart: Partial<Timing> = {}) {}

  get current(): Timing {
    return { ...defaultTiming, ...this.atStart, ...this.changed }
  }

  set(timing: Partial<Timing>): void {
    this.changed = { ...this.changed, ...timing }
  }

  reset(): void {
    this.changed = {}
  }
}
