// GPU backends are online as long as an executor reports their engine.
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

test('a GPU backend goes online when its engine is reported, and others stay offline', async () => {
  await reportEngines(db, [...cpu, 'gpu_statevector'])
  expect([await status(), await status('gpu-tensor-network')]).toEqual(['online', 'offline'])
})

test('an executor without a GPU takes no backend offline that another has just reported', async () => {
  await reportEngines(db, ['gpu_statevector'])
  await reportEngines(db, cpu)
  expect(await status()).toBe('online')
})

test('a GPU backend that is no longer reported goes offline', async () => {
  await reportEngines(db, ['gpu_statevector'])
  await age(200)
  await reportEngines(db, cpu)
  expect(await status()).toBe('offline')
})

test('each report keeps a GPU backend online', async () => {
  await reportEngines(db, ['gpu_statevector'])
  await age(200)
  await reportEngines(db, ['gpu_statevector'])
  expect(await status()).toBe('online')
})

test('a GPU backend in maintenance stays there, and other backends are never touched', async () => {
  await changeBackend(db, SLUG, { status: 'maintenance' })
  await changeBackend(db, 'aer-mps', { status: 'maintenance' })
  await reportEngines(db, ['gpu_statevector', 'mps'])
  expect([await status(), await status('aer-mps'), await status('local')]).toEqual([
    'maintenance',
    'maintenance',
    'online'
  ])
})
