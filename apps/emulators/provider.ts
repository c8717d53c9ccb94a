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

/** What a fault needs to know about a request. The path is as sent, without the query. */
export interface RequestLine {
  method: string
  path: string
}

/** A response outside of the provider's routes, such as a refusal. */
export interface ProviderReply {
  status: number
  /** With the content type. */
  headers: Record<string, string>
  body: string | Buffer
}

/** How long a task waits and runs, in emulated milliseconds. */
export interface Timing {
  queueMs: number
  runMs: number
  /** How long after the task's end its result can be read. */
  resultLagMs: number
}

export interface EmulatedProvider {
  /** The platform's name for it. */
  readonly name: string
  /** The prefix of every route, such as /v0.4. */
  readonly basePath: string
  /** The credentials that the platform stores for a team, by the names of its secrets. */
  readonly credentials: Record<string, string>
  /** The environment variables that hold the provider's addresses, for a server at `address`. */
  variables(address: string): Record<string, string>
  /** Adds the routes to `app`, which is mounted at `basePath`. */
  routes(app: FastifyInstance): void
  /** Adds control routes of this provider alone, below its name. */
  controlRoutes?(app: FastifyInstance): void
  /** The provider's words for a refused request. */
  refusal(status: number, message: string, request: RequestLine): ProviderReply
  /** The response to a request whose token has expired; null if the provider's credentials never do. */
  expiredToken(request: RequestLine): ProviderReply | null
  /** The response to a request for a result that does not exist yet; null for every other request. */
  resultNotThere(request: RequestLine): ProviderReply | null
  /** The same response, in which every task's state is a word that no client knows. */
  withUnknownStatus(payload: string, request: RequestLine): string
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

/** A refusal as JSON. */
export const jsonReply = (status: number, body: Record<string, unknown>): ProviderReply => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body: JSON.stringify(body)
})
