// A database per test file, cloned from the migrated template on the shared server. A failed file keeps its database
// while the server runs, and prints how to look at it.
import { randomBytes } from 'node:crypto'
import postgres from 'postgres'
import { type Connection, type ConnectionOptions, connect } from '../../../db/client.js'
import type { ContentStore } from '../../../db/content-store.js'

export interface TestDatabase extends Omit<Connection, 'close'> {
  name: string
  url: string
  /** Closes the connections, and removes the database unless a test of this file failed. */
  drop(): Promise<void>
}

/**
 * @param file names the database, for readers of the server's list.
 * @param template `null` creates an empty database.
 */
export async function createTestDatabase(
  file: string,
  options: { max?: number; template?: string | null; contentStore?: ContentStore } = {}
): Promise<TestDatabase> {
  const { max = 10, template = process.env.TEST_TEMPLATE_DB, contentStore = null } = options
  const name = `t_${file.replace(/[^a-z0-9]+/gi, '_').toLowerCase()}_${randomBytes(4).toString('hex')}`
  // Cloning a template needs no connection to it, but only one clone can run at a time.
  await onServer((sql) =>
    sql.unsafe(`create database ${name}${template ? ` template ${template} strategy file_copy` : ''}`)
  )
  const url = new URL(serverUrl())
  url.pathname = `/${name}`
  const connection = connectForTest(url.href, { max, contentStore })
  let dropped: Promise<void> | null = null
  return {
    name,
    url: url.href,
    db: connection.db,
    sql: connection.sql,
    drop() {
      dropped ??= connection.close().then(async () => {
        if (someTestFailed()) process.stderr.write(`kept for a look: psql ${url.href}\n`)
        else await onServer((sql) => sql.unsafe(`drop database if exists ${name} with (force)`))
      })
      return dropped
    }
  }
}

/** Tests write thousands of rows in one statement, which on a busy machine takes longer than the product allows. */
const STATEMENT_MS = 60_000

/** For a test's own queries, which are not recorded as the product's (query-recorder.ts). */
export const connectForTest = (url: string, options: ConnectionOptions): Connection =>
  connect(process.env.RECORD_QUERIES === '1' ? `${url}?application_name=test` : url, {
    statementTimeoutMs: STATEMENT_MS,
    ...options
  })

function serverUrl(): string {
  const url = process.env.TEST_PG_URL
  if (!url) throw new Error('TEST_PG_URL is not set; run tests with npm test')
  return url
}

/** Postgres waits five seconds for the sessions of a database that it clones or drops, its own cleaning ones too. */
const STILL_IN_USE = '55006'
const TRIES_MAX = 20

async function onServer(work: (sql: postgres.Sql) => Promise<unknown>): Promise<void> {
  const sql = postgres(serverUrl(), { max: 1, onnotice: () => {} })
  try {
    for (let tries = 1; ; tries++)
      try {
        return void (await work(sql))
      } catch (error) {
        if ((error as { code?: string }).code !== STILL_IN_USE || tries === TRIES_MAX) throw error
      }
  } finally {
    await sql.end({ timeout: 5 })
  }
}

interface CircusBlock {
  children: { type: string; errors?: unknown[]; children?: unknown[] }[]
}

// jest does not pass the outcome to its hooks. Its own state, a symbol on the global object, has it.
function someTestFailed(): boolean {
  const key = Object.getOwnPropertySymbols(globalThis).find((symbol) => symbol.description === 'JEST_STATE_SYMBOL')
  const state = key && (globalThis as unknown as Record<symbol, { rootDescribeBlock?: CircusBlock }>)[key]
  const failed = (block: CircusBlock): boolean =>
    block.children.some((child) =>
      child.type === 'test' ? (child.errors?.length ?? 0) > 0 : failed(child as unknown as CircusBlock)
    )
  return state?.rootDescribeBlock ? failed(state.rootDescribeBlock) : false
}
