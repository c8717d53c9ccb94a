// Ids as people type them: whole, by their end, or `latest`.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { type Shell, startService } from '../qjob.js'
import { signedUp } from '../signed-up.js'

const bell = 'OPENQASM 3.0;\ninclude "stdgates.inc";\nqubit[2] q; bit[2] c;\nh q[0]; cx q[0], q[1];\nc = measure q;\n'

const keyRing = `cli:${Buffer.from('a ring key of 32 bytes for tests').toString('base64')}`
let service: Awaited<ReturnType<typeof startService>>
let ada: Shell
let eve: Shell
let older: string
let newer: string

const submitted = async (shell: Shell): Promise<string> =>
  JSON.parse((await shell.run(['submit', '-', '--wait', '--json'], bell)).stdout).id

beforeAll(async () => {
  service = await startService('cli-short-ids', { SECRETS_KEYS: keyRing })
  ;[ada, eve] = await Promise.all([signedUp(service, 'ada@example.org'), signedUp(service, 'eve@example.org')])
  older = await submitted(ada)
  newer = await submitted(ada)
}, 120_000)

afterAll(async () => {
  for (const shell of [ada, eve]) shell?.remove()
  await service?.close()
})

const idOf = async (shell: Shell, args: string[]): Promise<string> =>
  JSON.parse((await shell.run([...args, '--json'])).stdout).id

test('a job is named by its id, by 8 to 12 characters of its end, or as latest', async () => {
  for (const name of [older, older.toUpperCase(), older.slice(-8), older.slice(-12), older.slice(-8).toUpperCase()])
    expect(await idOf(ada, ['job', name])).toBe(older)
  expect(await idOf(ada, ['job', 'latest'])).toBe(newer)
  expect((await ada.run(['cancel', older.slice(-8)])).stderr).toMatch(/completed/)
  const page = JSON.parse((await ada.run(['jobs', '--mine', '--json'])).stdout)
  expect(page.jobs.map(({ id }: { id: string }) => id)).toEqual([newer, older])
})

test('a list on a terminal shows the ends of ids, which other commands accept', async () => {
  const { stdout } = await ada.onTerminal(['jobs'], 'never shown', '')
  const [shown] = /^[0-9a-f]{8}(?= )/m.exec(stdout)!
  expect(await idOf(ada, ['job', shown])).toBe(newer)
  expect(stdout).not.toContain(newer)
})

test('capsules and their runs have short names too', async () => {
  const made = await ada.run(['capsule', 'from-job', 'latest', '--name', 'Bell', '--json'])
  const capsule = JSON.parse(made.stdout).capsule_id
  expect(await idOf(ada, ['capsule', 'show', capsule.slice(-8)])).toBe(capsule)
  expect((await ada.run(['capsule', 'seal', 'latest', '--exit-code', '0'])).code).toBe(0)
  const run = await ada.run(['capsule', 'run', capsule.slice(-8), '--wait', '--json'])
  expect(await idOf(ada, ['capsule', 'runs', 'latest', '--run', 'latest'])).toBe(JSON.parse(run.stdout).id)
  expect((await ada.run(['capsule', 'runs', 'latest', '--run', '00000000'])).code).toBe(4)
}, 180_000)

test("a short id never finds another team's job, and latest needs one of one's own", async () => {
  const foreign = await eve.run(['job', newer.slice(-8)])
  expect([foreign.code, foreign.stderr]).toEqual([
    4,
    `qjob: no job has an id that ends with ${newer.slice(-8)}: qjob jobs lists them\n`
  ])
  const none = await eve.run(['cancel', 'latest'])
  expect([none.code, none.stderr]).toEqual([4, 'qjob: there is no job yet of your own: qjob jobs lists all\n'])
})

test('an ambiguous id is refused, with the candidates', async () => {
  // Of the same moment, with another random part.
  const random = newer[24] === '0' ? '1' : '0'
  const twin = `${newer.slice(0, 24)}${random}${newer.slice(25)}`
  await service.database.db.execute(sql`
    insert into jobs select (jsonb_populate_record(j, jsonb_build_object('id', ${twin}::text))).* from jobs j
    where j.id = ${newer}`)
  const { code, stderr } = await ada.run(['job', newer.slice(-8)])
  expect([code, stderr]).toEqual([
    2,
    `qjob: several jobs have an id that ends with ${newer.slice(-8)}; use a whole one: ${[newer, twin].sort().reverse().join(', ')}\n`
  ])
  expect(await idOf(ada, ['job', twin])).toBe(twin)
})

test.each(['abc', '1234567g', 'last', '%25', ''])('"%s" is not the id of a job, and nothing is sent', async (text) => {
  const { code, stderr } = await ada.run(['job', text], '', { QJOB_URL: 'http://127.0.0.1:1' })
  expect([code, stderr]).toEqual([2, `qjob: "${text}" is not the id of a job: qjob jobs lists them\n`])
})
