// Two Postgres servers in DATABASE_URL, each behind TLS with a certificate of its own: one goes away, or becomes read-only.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import postgres from 'postgres'
import { ensureDatabase } from '../../../apps/cli/stack/parts/postgres.js'
import { connect } from '../../../db/client.js'
import { createRunAnnouncer, listenToJobs } from '../../../db/jobs/job-changes.js'
import { eventually } from '../../support/eventually.js'
import { startOwnPostgres } from '../../support/postgres/own-postgres.js'
import { createAuthority } from '../../support/tls/certificates.js'
import { postgresOverTls } from '../../support/tls/postgres-over-tls.js'

const name = `failover_${randomBytes(4).toString('hex')}`
const password = randomBytes(16).toString('hex')
const shared = process.env.TEST_PG_URL!
const sharedPort = Number(new URL(shared).port)
const own = await startOwnPostgres('failover')
for (const url of [own.url, shared]) await ensureDatabase(url, name, password)

const authority = createAuthority('failover')
const folder = mkdtempSync(join(tmpdir(), 'failover-'))
const ca = join(folder, 'ca.pem')
writeFileSync(ca, authority.ca)
const behind = (port: number, host: string) => postgresOverTls({ host: '127.0.0.1', port }, authority.sign([host]))
const [first, second] = [await behind(own.port, 'localhost'), await behind(sharedPort, '127.0.0.1')]
afterAll(async () => {
  await Promise.all([first.close(), second.close()])
  await own.remove()
  const admin = postgres(shared, { max: 1, onnotice: () => {} })
  await admin.unsafe(`drop database if exists ${name} with (force)`)
  await admin.unsafe(`drop role ${name}`)
  await admin.end()
  rmSync(folder, { recursive: true })
})

const address = (hosts: string, words = '') =>
  `postgres://${name}:${password}@${hosts}/${name}?sslmode=verify-full&sslrootcert=${ca}${words}`
const hosts = `localhost:${first.port},127.0.0.1:${second.port}`

/** The port of the server that responds, and not of what is before it. */
async function portAt(url: string): Promise<number> {
  const { db, close } = connect(url, { max: 1 })
  try {
    const [row] = await db.execute<{ port: number }>(sql`select inet_server_port() as port`)
    return row!.port
  } finally {
    await close()
  }
}

test('the first host that responds is used, with the certificate that its own name requires', async () => {
  expect(await portAt(address(hosts))).toBe(own.port)
  expect(await portAt(address(`127.0.0.1:1,127.0.0.1:${second.port}`))).toBe(sharedPort)
  // Each certificate is for the name of the other.
  await expect(portAt(address(`127.0.0.1:${first.port},localhost:${second.port}`))).rejects.toMatchObject({
    cause: { code: 'ERR_TLS_CERT_ALTNAME_INVALID', message: expect.stringContaining(`127.0.0.1:${first.port} (`) }
  })
  // A server that is somebody else is passed over.
  expect(await portAt(address(`127.0.0.1:${first.port},127.0.0.1:${second.port}`))).toBe(sharedPort)
})

test('a wrong password is not tried at the next host', async () => {
  second.names.length = 0
  await expect(portAt(address(hosts).replace(password, 'wrong'))).rejects.toMatchObject({ cause: { code: '28P01' } })
  expect(second.names).toEqual([])
})

test('the pool and its notifications go on at the next host when a server stops, and at the first when it is alone', async () => {
  const pool = connect(address(hosts), { max: 2 })
  const listener = listenToJobs({ directUrl: address(hosts) })
  const at = async () => (await pool.db.execute<{ port: number }>(sql`select inet_server_port() as port`))[0]!.port
  try {
    expect(await at()).toBe(own.port)
    await own.stop()
    await eventually(() =>
      at()
        .then((port) => port === sharedPort)
        .catch(() => false)
    )
    const heard: string[] = []
    listener.onAny({ job: () => {}, capsuleRun: (id) => void heard.push(id), missed: () => {} })
    const announce = createRunAnnouncer(pool.db)
    await eventually(() => {
      announce('a-run')
      return heard.includes('a-run')
    })
  } finally {
    await own.start()
    await listener.close()
    await pool.close()
  }
  expect(await portAt(address(hosts))).toBe(own.port)
})

test('a pool leaves a primary that has become read-only, with and without target_session_attrs', async () => {
  const listener = listenToJobs({ directUrl: address(hosts) })
  const plain = connect(address(hosts), { max: 2, onServerLeft: () => listener.leaveServer() })
  const strict = connect(address(hosts, '&target_session_attrs=read-write'), { max: 2 })
  const write = ({ db }: typeof plain) =>
    db.execute<{ port: number }>(sql`
    with written as (select nextval('numbers')) select inet_server_port() as port from written`)
  for (const url of [own.url, shared]) {
    const admin = postgres(new URL(`/${name}`, url).href, { max: 1 })
    await admin.unsafe('create sequence numbers')
    await admin.unsafe(`grant all on sequence numbers to ${name}`)
    await admin.end()
  }
  try {
    for (const pool of [plain, strict]) expect((await write(pool))[0]!.port).toBe(own.port)
    await own.run('alter system set default_transaction_read_only = on', 'select pg_reload_conf()')
    for (const pool of [plain, strict])
      await eventually(() =>
        write(pool).then(
          ([row]) => row!.port === sharedPort,
          () => false
        )
      )
    // Nothing has closed the connection that listens at the former primary.
    const heard: string[] = []
    listener.onAny({ job: () => {}, capsuleRun: (id) => void heard.push(id), missed: () => {} })
    const announce = createRunAnnouncer(plain.db)
    await eventually(() => {
      announce('after-the-failover')
      return heard.includes('after-the-failover')
    })
    expect(await portAt(address(hosts, '&target_session_attrs=read-write'))).toBe(sharedPort)
    // Any server will do without the word, as in libpq.
    expect(await portAt(address(hosts))).toBe(own.port)
    await expect(portAt(address(`localhost:${first.port}`, '&target_session_attrs=read-write'))).rejects.toMatchObject({
      cause: { code: '25006' }
    })
  } finally {
    await own.run(
      'set default_transaction_read_only = off',
      'alter system reset default_transaction_read_only',
      'select pg_reload_conf()'
    )
    await listener.close()
    await plain.close()
    await strict.close()
  }
})
