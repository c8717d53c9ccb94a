// Backends on GPUs are there as long as an executor says that it has one.
import { afterAll, beforeEach, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { changeBackend, findBackend, reportEngines } from '../../../db/backends/backends.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('gpu_backends')
const { db } = database
afterAll(() => database.drop())

const SLUG = 'gpu-statevector'
const cpu = ['statevector', 'mps']
const status = async (slug = SLUG) => (await findBackend(db, slug))!.status
const age = (seconds: number) =>
  db.execute(
    sql`update backends set status_updated_at = clock_timestamp() - make_interval(secs => ${seconds}) where slug = ${SLUG}`
  )

beforeEach(() => changeBackend(db, SLUG, { status: 'offline' }))

test('one whose engine is reported goes online, the other stays offline', async () => {
  await reportEngines(db, [...cpu, 'gpu_statevector'])
  expect([await status(), await status('gpu-tensor-network')]).toEqual(['online', 'offline'])
})

test('an executor without a GPU takes none offline that another has just reported', async () => {
  await reportEngines(db, ['gpu_statevector'])
  await reportEngines(db, cpu)
  expect(await status()).toBe('online')
})

test('one that nobody reports any more goes offline', async () => {
  await reportEngines(db, ['gpu_statevector'])
  await age(200)
  await reportEngines(db, cpu)
  expect(await status()).toBe('offline')
})

test('a report keeps it online however long ago the first was', async () => {
  await reportEngines(db, ['gpu_statevector'])
  await age(200)
  await reportEngines(db, ['gpu_statevector'])
  expect(await status()).toBe('online')
})

test('one in maintenance stays so, and backends without a GPU are never touched', async () => {
  await changeBackend(db, SLUG, { status: 'maintenance' })
  await changeBackend(db, 'aer-mps', { status: 'maintenance' })
  await reportEngines(db, ['gpu_statevector', 'mps'])
  expect([await status(), await status('aer-mps'), await status('local')]).toEqual([
    'maintenance',
    'maintenance',
    'online'
  ])
})
