// The interface of an emulated provider. A new provider implements it and adds one line to emulators.ts.
import type { FastifyInstance } from 'fastify'

/** A task that the provider accepted, for which a user would be charged. Times are ISO-8601 in emulated time. */
export interface LedgerTask {
  id: string
  /** The value by which the submitter can find its task; null if it sent none. */
  token: string | null
  device: string
  shots: number
  /** The state in the provider's own words. */
  state: string
  submitted_at: string
  completed_at: string | null
  metadata: Record<string, string>
}

/** How long a task waits and runs, in emulated milliseconds. */
export interface Timing {
  queueMs: number
  runMs: number
}

export interface EmulatedProvider {
  /** The platform's name for it. */
  readonly name: string
  /** The prefix of every route, such as /v0.4. */
  readonly basePath: string
  /** The credentials that the platform stores for a team, by the names of its secrets. */
  readonly credentials: Record<string, string>
  /** A task state that no client knows. */
  readonly unknownStatus: string
  /** Adds the routes to `app`, which is mounted at `basePath`. */
  routes(app: FastifyInstance): void
  /** The body of a refused request. */
  errorBody(status: number, message: string): Record<string, unknown>
  tasks(): LedgerTask[]
  /** Applies to tasks submitted from now on. */
  setTiming(timing: Partial<Timing>): void
  /** @throws Error for an unknown device or status. */
  setDeviceStatus(device: string, status: string): void
  /**
   * Sets how likely a shot of a device that is not exact returns a random outcome instead of its own. Applies to tasks
   * submitted from now on.
   */
  setNoise(level: number): void
  /** Clears all tasks and settings. */
  reset(): void
}
