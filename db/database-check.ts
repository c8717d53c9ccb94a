// Checks at the start of a process that its settings fit the database and a pooler before it. Each mistake would otherwise
// show later: as statements that fail now and then, a lock that is never released, or a limit that is silently off.
import { setTimeout as delay } from 'node:timers/promises'
import { type Connection, connect, sessionTimeouts } from './client.js'
import type { DatabaseSettings } from './connection/database-settings.js'
import { connectionError } from './connection/database-socket.js'
import { openDriver } from './connection/driver.js'

/** A pooler in session mode whose sessions are all in use lets the second connection wait. */
const PROBE_MS = 5_000

/** @throws Error naming the setting that has to change, or why the database is away: also when it takes longer than `limitMs`. */
export async function checkDatabase(settings: DatabaseSettings, limitMs: number): Promise<void> {
  const pool = connect(settings.url, { ...settings, max: 1 })
  const direct = settings.directUrl === settings.url ? pool : connect(settings.directUrl, { ...settings, max: 1 })
  let isSlow = false
  const patience = setTimeout(() => {
    isSlow = true
    for (const { sql } of [pool, direct]) void sql.end({ timeout: 0 })
  }, limitMs)
  try {
    const [ofPool, ofDirect] = [await identityOf(pool), await identityOf(direct)]
    if (ofPool.database !== ofDirect.database)
      throw new Error('DATABASE_DIRECT_URL leads to another database than DATABASE_URL')
    if (ofDirect.isPooled && (await sharesSessions(settings.directUrl, settings)))
      throw new Error(
        'DATABASE_DIRECT_URL must lead to Postgres itself, or to a pooler in session mode: without it, migrations and ' +
          'notifications would use sessions that a pooler shares among its clients'
      )
    if (settings.prepares && ofPool.isPooled && (await sharesSessions(settings.url, settings)))
      throw new Error(
        'DATABASE_PREPARED_STATEMENTS must be off: DATABASE_URL leads to a pooler that shares sessions among its clients'
      )
    await assertTimeouts(pool)
  } catch (error) {
    if (!isSlow) throw error
    const message = `no response from the database within ${limitMs / 1_000} s`
    throw connectionError({ message, code: 'CONNECT_TIMEOUT' })
  } finally {
    clearTimeout(patience)
    await pool.close()
    if (direct !== pool) await direct.close()
  }
}

interface Identity {
  database: string
  /** The session was not opened for this client. */
  isPooled: boolean
}

async function identityOf({ sql }: Connection): Promise<Identity> {
  try {
    const rows = await sql<{ database: string; pid: number }[]>`
      select datname || ' ' || oid as database, pg_backend_pid() as pid from pg_database where datname = current_database()`
    // A pooler invents the process id by which its clients cancel.
    return { database: rows[0]!.database, isPooled: rows.state?.pid !== rows[0]!.pid }
  } catch (error) {
    const { message } = error as Error
    if (!/startup parameter/.test(message)) throw error
    throw new Error(`DATABASE_STARTUP_PARAMETERS must be off: the pooler refuses the connection (${message})`, {
      cause: error
    })
  }
}

/** Whether two clients get the same session. */
async function sharesSessions(url: string, settings: DatabaseSettings): Promise<boolean> {
  const open = () => openDriver(url, { ...settings, max: 1 }).sql
  const [one, other] = [open(), open()]
  const pidOf = async (sql: Pick<typeof one, 'unsafe'>): Promise<number> =>
    (await sql.unsafe<{ pid: number }[]>('select pg_backend_pid() as pid'))[0]!.pid
  const compared = async (): Promise<boolean> => {
    const first = await pidOf(one)
    return other.begin(async (tx) => (await pidOf(tx)) === first || (await pidOf(one)) !== first)
  }
  const probe = compared()
  probe.catch(() => {})
  const patience = new AbortController()
  try {
    return await Promise.race([probe, delay(PROBE_MS, false, { signal: patience.signal }).catch(() => false)])
  } finally {
    patience.abort()
    await Promise.all([one.end({ timeout: 1 }), other.end({ timeout: 1 })])
  }
}

async function assertTimeouts({ sql }: Connection): Promise<void> {
  const rows = await sql<{ name: string }[]>`
    select name from pg_settings where setting = '0' and name in ${sql(Object.keys(sessionTimeouts))}`
  if (rows.length === 0) return
  const [user] = await sql<{ role: string }[]>`select quote_ident(current_user) as role`
  const names = rows.map(({ name }) => name as keyof typeof sessionTimeouts)
  const commands = names.map((name) => `alter role ${user!.role} set ${name} = '${sessionTimeouts[name] / 1_000}s';`)
  throw new Error(
    `the sessions of DATABASE_URL have no ${names.join(' and no ')}, which DATABASE_STARTUP_PARAMETERS=off or a pooler ` +
      `leaves to the role: run ${commands.join(' ')} and let the pooler reconnect`
  )
}
