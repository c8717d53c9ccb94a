// Faults that a test injects: each applies to the next requests that match it, as many times as set.
import { type Static, Type } from 'typebox'
import type { EmulatedProvider, RequestLine } from './provider.js'

export const faultKinds = [
  /** The request is refused with `status` before it is processed. */
  'status',
  /** The request is processed, and the response has `status`. */
  'status_after',
  /** The request is not processed, and there is no response. */
  'hang',
  /** The request is processed, and there is no response. */
  'hang_after',
  /** The request is processed, then the connection is closed without a response. */
  'drop_after',
  /** The connection is closed, and the request is processed `lag_ms` of real time later. */
  'accept_late',
  /** The request is processed, and the response is sent after `lag_ms` of real time. */
  'lag',
  /** For GET only: every task's status in the response is a word that no client knows. */
  'unknown_status',
  /** The connection is closed before the request is processed. */
  'offline',
  /** The request is refused as if its token had expired. */
  'expire_tokens',
  /** For requests for a result only: they are answered as if it did not exist yet. */
  'result_lag'
] as const

export type FaultKind = (typeof faultKinds)[number]

/** The fields for injecting a fault. */
export const faultOrder = Type.Object(
  {
    /** Omitted fields match everything; `path` is a prefix of whole segments, with or without the provider's base path. */
    match: Type.Optional(
      Type.Object(
        {
          method: Type.Optional(Type.String({ pattern: '^[A-Za-z]+$' })),
          path: Type.Optional(Type.String({ pattern: '^/' }))
        },
        { additionalProperties: false }
      )
    ),
    kind: Type.Enum(faultKinds),
    /** HTTP status of `status` and `status_after`; default 503. */
    status: Type.Optional(Type.Integer({ minimum: 400, maximum: 599 })),
    /** How many requests it applies to; default 1. */
    times: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
    /** Seconds, for the header of `status` and `status_after`. */
    retry_after: Type.Optional(Type.Integer({ minimum: 0, maximum: 86_400 })),
    /** Default 2000. */
    lag_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: 600_000 }))
  },
  { additionalProperties: false }
)

export type FaultOrder = Static<typeof faultOrder>

export interface Fault {
  match: { method: string | null; path: string }
  kind: FaultKind
  status: number
  /** How many more requests it applies to. */
  times: number
  retry_after: number | null
  lag_ms: number
}

const defaultLagMs = 2000

export class FaultList {
  private faults: Fault[] = []

  constructor(private readonly provider: EmulatedProvider) {}

  /** @throws Error (400) for a kind that the provider cannot have. */
  add({ match = {}, kind, status = 503, times = 1, retry_after, lag_ms = defaultLagMs }: FaultOrder): Fault {
    const fault: Fault = {
      match: { method: match.method?.toUpperCase() ?? null, path: match.path ?? '/' },
      kind,
      status,
      times,
      retry_after: retry_after ?? null,
      lag_ms
    }
    if (kind === 'expire_tokens' && !this.provider.expiredToken({ method: 'GET', path: this.provider.basePath }))
      throw Object.assign(new Error(`kind: ${this.provider.name} has no tokens that expire`), { statusCode: 400 })
    this.faults.push(fault)
    return { ...fault }
  }

  /** The first injected fault that matches this request; counts it down. */
  take(request: RequestLine): Fault | null {
    const { method, path } = request
    const { basePath } = this.provider
    const relative = path.startsWith(basePath) ? path.slice(basePath.length) : path
    const fault = this.faults.find(
      ({ match, kind }) =>
        (kind !== 'unknown_status' || method === 'GET') &&
        (kind !== 'result_lag' || this.provider.resultNotThere(request) !== null) &&
        (match.method === null || match.method === method) &&
        (within(path, match.path) || within(relative, match.path))
    )
    if (!fault) return null
    fault.times -= 1
    if (fault.times === 0) this.faults = this.faults.filter((other) => other !== fault)
    return fault
  }

  /** The faults that still wait for requests. */
  list(): Fault[] {
    return this.faults.map((fault) => ({ ...fault }))
  }

  clear(): void {
    this.faults = []
  }
}

/** Whether the path is the prefix or lies below it: /quantum-task does not mean /quantum-tasks. */
const within = (path: string, prefix: string): boolean =>
  path === prefix || path.startsWith(prefix.endsWith('/') ? prefix : `${prefix}/`)
