// What a provider was asked, in order.

/** Older entries are dropped: a stack may poll its emulator for weeks. */
const entriesMax = 10_000

export interface LoggedRequest {
  /** ISO-8601, emulated time of arrival. */
  at: string
  method: string
  /** Without the query. */
  path: string
  query: string
  /** Null while, and when, it is not answered. */
  status: number | null
  /** The fault that it met. */
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
