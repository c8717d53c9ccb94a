// A Postgres of a test's own that logs every statement of chosen roles, with the id of the transaction that it belongs to.
// A transaction has an id once it has written something (a row, or a lock on one), so its commit is flushed to the log of
// Postgres. Counts are exact: they come from the server and not from a clock.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { migrate } from '../../../db/migrate.js'
import { startOwnPostgres } from './own-postgres.js'

export interface LoggedStatement {
  role: string
  session: string
  text: string
  parameters: string
  /** Within the session, and ascending. */
  line: number
  /** `null`: nothing was written until then. */
  transaction: string | null
}

const TEMPLATE = 'logged_template'

/** @param roles superusers whose statements are logged. */
export async function startLoggedPostgres<Role extends string>(name: string, roles: readonly Role[]) {
  const server = await startOwnPostgres(name)
  await server.run(
    'alter system set logging_collector = on',
    "alter system set log_destination = 'jsonlog'",
    "alter system set log_filename = 'statements.log'",
    'alter system set log_rotation_age = 0',
    'alter system set log_rotation_size = 0',
    `create database ${TEMPLATE}`
  )
  const password = new URL(server.url).password
  for (const role of roles)
    await server.run(
      `create role ${role} login superuser password '${password}'`,
      `alter role ${role} set log_min_duration_statement = 0`
    )
  await server.stop()
  await server.start()
  const template = new URL(server.url)
  template.pathname = `/${TEMPLATE}`
  await migrate(template.href)
  const file = join(await dataFolder(server.url), 'log', 'statements.json')
  return {
    url: server.url,
    template: TEMPLATE,
    /** The address of a database for one of the roles. */
    as(role: Role, url: string): string {
      const own = new URL(url)
      own.username = role
      return own.href
    },
    statements: (): LoggedStatement[] => (existsSync(file) ? read(readFileSync(file, 'utf8')) : []),
    remove: () => server.remove()
  }
}

async function dataFolder(url: string): Promise<string> {
  const sql = postgres(url, { max: 1 })
  try {
    const [row] = await sql`show data_directory`
    return row!.data_directory
  } finally {
    await sql.end({ timeout: 5 })
  }
}

/** The driver prepares a statement once for each connection; what it executes is logged as `execute`, or as `statement` without parameters. */
const EXECUTED = /^duration: \S+ ms {2}(?:execute [^:]*|statement): ([\s\S]*)$/

function read(log: string): LoggedStatement[] {
  // The last line can be incomplete.
  const lines = log.slice(0, log.lastIndexOf('\n')).split('\n')
  return lines.flatMap((line) => {
    if (!line.startsWith('{')) return []
    const { user, session_id, line_num, txid, message, detail } = JSON.parse(line)
    const text = EXECUTED.exec(message)?.[1]
    if (text === undefined) return []
    return {
      role: user,
      session: session_id,
      text: text.replace(/\s+/g, ' ').trim(),
      parameters: detail ?? '',
      line: line_num,
      transaction: txid ? String(txid) : null
    }
  })
}
