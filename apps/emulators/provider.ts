// What an emulated provider is to the servers that carry it. A provider that joins implements this and adds one line to
// emulators.ts.
import type { FastifyInstance } from 'fastify'

/** One piece of work that the provider accepted: what a user would be charged for. Times are ISO-8601 in emulated time. */
export interface LedgerTask {
  id: string
  /** What the submitter can find its task by; null when it sent nothing of the kind. */
  token: string | null
  device: string
  shots: number
  /** In the provider's own word. */
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
  /** As the platform names it. */
  readonly name: string
  /** Precedes every route, such as /v0.4. */
  readonly basePath: string
  /** What the platform has to store for a team, by the names of its secrets. */
  readonly credentials: Record<string, string>
  /** A word for a task's state that no client knows. */
  readonly unknownStatus: string
  /** Adds the routes; `app` is at `basePath`. */
  routes(app: FastifyInstance): void
  /** The body with which the provider refuses a request. */
  errorBody(status: number, message: string): Record<string, unknown>
  tasks(): LedgerTask[]
  /** For tasks submitted from now on. */
  setTiming(timing: Partial<Timing>): void
  /** Throws with a message for an unknown device or status. */
  setDeviceStatus(device: string, status: string): void
  /** Forgets all tasks and settings. */
  reset(): void
}
