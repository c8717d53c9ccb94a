// TLS towards Postgres, as DATABASE_URL asks for it in the words of libpq.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { connect } from '../../../db/client.js'
import { createRunAnnouncer, listenToJobs } from '../../../db/jobs/job-changes.js'
import { migrate } from '../../../db/migrate.js'
import { eventually } from '../../support/eventually.js'
import { createTestDatabase } from '../../support/stack/database.js'
import { createAuthority } from '../../support/tls/certificates.js'
import { postgresOverTls } from '../../support/tls/postgres-over-tls.js'

const database = await createTestDatabase('database_tls')
const folder = mkdtempSync(join(tmpdir(), 'database-tls-'))
const [ours, others] = [createAuthority('ours'), createAuthority('others')]
const file = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}
const ca = file('ca.pem', ours.ca)

type Proxy = Awaited<ReturnType<typeof postgresOverTls>>
const proxies = {} as Record<'named' | 'addressed' | 'foreign', Proxy>
beforeAll(async () => {
  const { hostname, port } = new URL(database.url)
  const target = { host: hostname, port: Number(port) }
  proxies.named = await postgresOverTls(target, ours.sign(['localhost']))
  proxies.addressed = await postgresOverTls(target, ours.sign(['127.0.0.1']))
  proxies.foreign = await postgresOverTls(target, others.sign(['localhost', '127.0.0.1']))
})
afterAll(async () => {
  await Promise.all(Object.values(proxies).map((proxy) => proxy.close()))
  await database.drop()
  rmSync(folder, { recursive: true })
})

function address(proxy: keyof typeof proxies | 'none', host: string, tls: string): string {
  const url = new URL(database.url)
  url.hostname = host
  // The server of the tests has none.
  if (proxy !== 'none') url.port = String(proxies[proxy].port)
  return `${url.href}?${tls}`
}

async function answerOf(url: string): Promise<string> {
  const { db, close } = connect(url, { max: 1 })
  try {
    const [row] = await db.execute<{ one: number }>(sql`select 1 as one`)
    return row!.one === 1 ? 'answers' : 'answers something else'
  } catch (error) {
    for (let at = error as { code?: string; cause?: unknown }; at; at = at.cause as typeof at)
      if (at.code) return at.code
    throw error
  } finally {
    await close()
  }
}

const full = `sslmode=verify-full&sslrootcert=${ca}`
const otherName = 'ERR_TLS_CERT_ALTNAME_INVALID'

test.each([
  ['a certificate for the name', 'named', 'localhost', full, 'answers'],
  ['a certificate for the address', 'addressed', '127.0.0.1', full, 'answers'],
  ['a certificate for localhost at another address', 'named', '127.0.0.1', full, otherName],
  ['a certificate for an address at a name', 'addressed', 'localhost', full, otherName],
  ['a certificate of another authority', 'foreign', 'localhost', full, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ["no authority of one's own", 'named', 'localhost', 'sslmode=verify-full', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ['verify-ca and another name', 'named', '127.0.0.1', `sslmode=verify-ca&sslrootcert=${ca}`, 'answers'],
  ['require and another authority', 'foreign', '127.0.0.1', 'sslmode=require', 'answers'],
  [
    'require, an authority, and a certificate of another',
    'foreign',
    '127.0.0.1',
    `sslmode=require&sslrootcert=${ca}`,
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE'
  ],
  ['prefer', 'foreign', '127.0.0.1', 'sslmode=prefer', 'answers'],
  ['prefer, at a server without TLS', 'none', '127.0.0.1', 'sslmode=prefer', 'answers'],
  ['require, at a server without TLS', 'none', '127.0.0.1', 'sslmode=require', 'EPROTO']
] as const)('with %s', async (_what, proxy, host, tls, outcome) => {
  expect(await answerOf(address(proxy, host, tls))).toBe(outcome)
})

test('a name is sent to the server, so that one that has several certificates can choose; an address is not', async () => {
  proxies.named.names.length = 0
  await answerOf(address('named', 'localhost', full))
  await answerOf(address('named', '127.0.0.1', 'sslmode=require'))
  expect(proxies.named.names).toEqual(['localhost', false])
})

test('a certificate of the service is shown to the server', async () => {
  const { cert, key } = ours.sign(['qjs'])
  const own = `sslcert=${file('own.pem', cert)}&sslkey=${file('own.key', key)}`
  proxies.named.peers.length = 0
  await answerOf(address('named', 'localhost', full))
  await answerOf(address('named', 'localhost', `${full}&${own}`))
  expect(proxies.named.peers).toEqual([null, 'qjs'])
})

test('migrations, notifications and the pool all go through TLS, and go on after every connection was cut', async () => {
  const url = address('addressed', '127.0.0.1', full)
  await migrate(url)
  const listener = listenToJobs({ directUrl: url })
  const pool = connect(url, { max: 2 })
  try {
    await pool.db.execute(sql`select 1`)
    proxies.addressed.cut()
    await eventually(async () => {
      const [row] = await pool.db.execute<{ one: number }>(sql`select 1 as one`).catch(() => [])
      return row?.one === 1
    })
    const heard: string[] = []
    listener.onAny({ job: () => {}, capsuleRun: (id) => void heard.push(id), missed: () => {} })
    const announce = createRunAnnouncer(pool.db)
    await eventually(() => {
      announce('01a2-a-run')
      return heard.includes('01a2-a-run')
    })
  } finally {
    await listener.close()
    await pool.close()
  }
})
