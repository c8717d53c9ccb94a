// Faults that a test orders in advance: each meets the next requests that match it, as often as ordered.
import { type Static, Type } from 'typebox'

export const faultKinds = [
  /** Refused with `status` before it is processed. */
  'status',
  /** Processed, then answered with `status`. */
  'status_after',
  /** Not processed and never answered. */
  'hang',
  /** Processed and never answered. */
  'hang_after',
  /** Processed, then the connection is closed without an answer. */
  'drop_after',
  /** The connection is closed, and the request is processed `lag_ms` of real time later. */
  'accept_late',
  /** Processed, and answered after `lag_ms` of real time. */
  'lag',
  /** Of GET only; every task's status in the answer is a word that no client knows. */
  'unknown_status',
  /** The connection is closed before it is processed. */
  'offline'
] as const

export type FaultKind = (typeof faultKinds)[number]

/** How a fault is ordered. */
export const faultOrder = Type.Object(
  {
    /** What is left out matches everything; `path` is a prefix, with or without the provider's base path. */
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
    /** HTTP status of `status` and `status_after`; 503 when left out. */
    status: Type.Optional(Type.Integer({ minimum: 400, maximum: 599 })),
    /** How many requests it meets; 1 when left out. */
    times: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
    /** Seconds, for the header of `status` and `status_after`. */
    retry_after: Type.Optional(Type.Integer({ minimum: 0, maximum: 86_400 })),
    /** 2000 when left out. */
    lag_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: 600_000 }))
  },
  { additionalProperties: false }
)

export type FaultOrder = Static<typeof faultOrder>

export interface Fault {
  match: { method: string | null; path: string }
  kind: FaultKind
  status: number
  /** How many more requests it meets. */
  times: number
  retry_after: number | null
  lag_ms: number
}

const defaultLagMs = 2000

export class FaultList {
  private faults: Fault[] = []

  constructor(private readonly basePath: string) {}

  add({ match = {}, kind, status = 503, times = 1, retry_after, lag_ms = defaultLagMs }: FaultOrder): Fault {
    const fault: Fault = {
      match: { method: match.method?.toUpperCase() ?? null, path: match.path ?? '/' },
      kind,
      status,
      times,
      retry_after: retry_after ?? null,
      lag_ms
    }
    this.faults.push(fault)
    return { ...fault }
  }

  /** The first fault ordered that meets this request, counted down. */
  take(method: string, path: string): Fault | null {
    const relative = path.startsWith(this.basePath) ? path.slice(this.basePath.length) : path
    const fault = this.faults.find(
      ({ match, kind }) =>
        (kind !== 'unknown_status' || method === 'GET') &&
        (match.method === null || match.method === method) &&
        (path.startsWith(match.path) || relative.startsWith(match.path))
    )
    if (!fault) return null
    fault.times -= 1
    if (fault.times === 0) this.faults = this.faults.filter((other) => other !== fault)
    return fault
  }

  /** Those that still wait for requests. */
  list(): Fault[] {
    return this.faults.map((fault) => ({ ...fault }))
  }

  clear(): void {
    this.faults = []
  }
}
