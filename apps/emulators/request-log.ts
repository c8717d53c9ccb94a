// The requests that a provider received, in order.

/** Older entries are dropped, because a stack can poll its emulator for weeks. */
const entriesMax = 10_000

export interface LoggedRequest {
  /** The time of arrival in emulated time, ISO-8601. */
  at: string
  method: string
  /** Without the query. */
  path: string
  query: string
  /** Null without a response. */
  status: number | null
  /** The fault that was applied. */
  fault: string | null
}

export class RequestLog {
  private entries: LoggedRequest[] = []

  add(entry: LoggedRequest): LoggedRequest {
    this.entries.push(entry)
    if (this.entries.length > entriesMax) this.entries.shift()
    return entry
  }

  list(): LoggedRequest[] {
    return this.entries.map((entry) => ({ ...entry }))
  }

  clear(): void {
    this.entries = []
  }
}
