// What a provider reports about its machines, as the catalogue records it.
import { afterAll, expect, test } from '@jest/globals'
import { changeBackend, findBackend } from '../../../db/backends/backends.js'
import { declareProviders, type ReportedBackend, recordBackends } from '../../../db/backends/provider-workers.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('reported_backends')
const { db } = database
afterAll(() => database.drop())

const SLUG = 'ionq-direct-forte-1'

async function after(status: ReportedBackend['status']) {
  await recordBackends(db, 'IonQ', [{ target: 'qpu.forte-1', status, queueLength: null, queueTimeSeconds: null }])
  const { status: recorded, isRetired } = (await findBackend(db, SLUG))!
  return [recorded, isRetired]
}

test('a machine that its provider has retired is retired, until the provider reports it online again', async () => {
  expect(await after('online')).toEqual(['online', false])
  expect(await after('retired')).toEqual(['offline', true])
  expect(await after('offline')).toEqual(['offline', true])
  expect(await after('online')).toEqual(['online', false])
})

test('a machine in maintenance stays there', async () => {
  await changeBackend(db, SLUG, { status: 'maintenance' })
  expect(await after('retired')).toEqual(['maintenance', false])
})

test('backends of a provider are emulated while workers call an emulator in its place; simulators of ours never are', async () => {
  const emulated = async () => Promise.all([SLUG, 'local'].map(async (slug) => (await findBackend(db, slug))!.emulated))
  await declareProviders(db, ['IonQ'], false)
  expect(await emulated()).toEqual([false, false])
  await declareProviders(db, ['IonQ'], true)
  expect(await emulated()).toEqual([true, false])
})
