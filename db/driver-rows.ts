// Corrects the rows of the driver (postgres 3.4.9). It counts the rows of a response and resets the count when a
// statement completes, but not when one fails or its connection is lost. A statement that fails after its first row
// leaves the count, and the next response on that connection begins with as many empty places: `const [row]` is then
// undefined for a row that exists. The rows themselves are complete and belong to their own statement.
import type postgres from 'postgres'
import type { OutageGate } from './connection/outage-gate.js'

/** The part of a driver's query that drizzle uses. A query is sent when it is awaited. */
interface RowQuery<Row> extends PromiseLike<Row[]> {
  values(): RowQuery<Row>
}

interface Sending {
  /** Called with each error before the caller sees it. */
  onError(error: unknown): void
  gate: OutageGate
}

export function withCorrectRows<Row>(query: postgres.PendingQuery<postgres.Row[]>, sending: Sending): RowQuery<Row> {
  return correct(query as unknown as RowQuery<Row>, sending)
}

function correct<Row>(query: RowQuery<Row>, sending: Sending): RowQuery<Row> {
  const noteError = (error: unknown): never => {
    sending.onError(error)
    throw error
  }
  return {
    values: () => correct(query.values(), sending),
    // biome-ignore lint/suspicious/noThenProperty: a query is sent when it is awaited, not when it is made.
    then: (onRows, onRejected) =>
      sending.gate(async () => query.then(removeEmptyPlaces, noteError)).then(onRows, onRejected)
  }
}

function removeEmptyPlaces<Row>(rows: Row[]): Row[] {
  if (rows.length > 0 && !(0 in rows))
    rows.splice(
      0,
      rows.findIndex((row) => row !== undefined)
    )
  return rows
}
