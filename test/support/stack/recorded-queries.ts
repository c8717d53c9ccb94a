// The file with the queries of a release. It is the same for the same code: sorted, and without what depends on how many rows
// or values a query had.
import { writeFileSync } from 'node:fs'
import { rowsAt } from '../sql-text.js'

export interface RecordedQuery {
  text: string
  /** The type of each parameter as the client names it; 0: Postgres infers it. */
  types: number[]
}

export interface RecordedRelease {
  /** The version in package.json. */
  release: string
  /** The tests that sent the queries. */
  recordedFrom: string
  /** How many migrations the release knows. */
  migrations: number
  /** The digests of its versions of the seeds. */
  seeds: string[]
  queries: RecordedQuery[]
}

/** One query for each text, sorted, with the types that any of them had. A client names no type for null. */
export function merged(queries: readonly RecordedQuery[]): RecordedQuery[] {
  const types = new Map<string, number[]>()
  for (const query of queries.map(shortened)) {
    const known = types.get(query.text) ?? []
    types.set(
      query.text,
      query.types.map((type, at) => Math.max(type, known[at] ?? 0))
    )
  }
  return [...types].map(([text, types]) => ({ text, types })).sort((a, b) => (a.text < b.text ? -1 : 1))
}

/** The query with one value in each list of values, one row of each form in each list of rows, and renumbered parameters. */
export function shortened({ text, types }: RecordedQuery): RecordedQuery {
  let short = ''
  let done = 0
  for (const { 0: word, index } of text.matchAll(/\bvalues\s*(?=\()/gi)) {
    const { rows, end } = rowsAt(text, index + word.length)
    const forms = new Map(rows.reverse().map((row) => [row.replace(/\$\d+/g, '$'), row]))
    const kept = [...forms].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
    short += text.slice(done, index) + word + kept.join(', ')
    done = end
  }
  short = (short + text.slice(done)).replace(/\bin \((\$\d+)(?:, ?\$\d+)+\)/gi, 'in ($1)')
  const order: number[] = []
  const renumbered = short.replace(/\$(\d+)/g, (_all, number: string) => {
    const known = order.indexOf(Number(number))
    return `$${known >= 0 ? known + 1 : order.push(Number(number))}`
  })
  return { text: renumbered, types: order.map((number) => types[number - 1] ?? 0) }
}

/** One query on each line, so that a difference can be read. */
export function writeRelease(path: string, { queries, ...head }: RecordedRelease): void {
  const lines = queries.map((query) => `    ${JSON.stringify(query)}`).join(',\n')
  writeFileSync(path, `${JSON.stringify(head, null, 2).slice(0, -2)},\n  "queries": [\n${lines}\n  ]\n}\n`)
}
