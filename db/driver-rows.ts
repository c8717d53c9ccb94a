// Corrects the rows of the driver (postgres 3.4.9). It counts the rows of a response and resets the count when a
// statement completes, but not when one fails or its connection is lost. A statement that fails after its first row
// leaves the count, and the next response on that connection begins with as many empty places: `const [row]` is then
// undefined for a row that exists. The rows themselves are complete and belong to their own statement.
import type postgres from 'postgres'

/** The part of a driver's query that drizzle uses. A query is sent when it is awaited. */
interface RowQuery<Row> extends PromiseLike<Row[]> {
  values(): RowQuery<Row>
}

/** @param onError called with each error before the caller sees it. */
export function withCorrectRows<Row>(
  query: postgres.PendingQuery<postgres.Row[]>,
  onError: (error: unknown) => void
): RowQuery<Row> {
  return correct(query as unknown as RowQuery<Row>, onError)
}

function correct<Row>(query: RowQuery<Row>, onError: (error: unknown) => void): RowQuery<Row> {
  const noteError = (error: unknown): never => {
    onError(error)
    throw error
  }
  return {
    values: () => correct(query.values(), onError),
    // biome-ignore lint/suspicious/noThenProperty: a query is sent when it is awaited, not when it is made.
    then: (onRows, onRejected) => query.then(removeEmptyPlaces, noteError).then(onRows, onRejected)
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
