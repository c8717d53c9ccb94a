// The emulated blob storage answers as a server of it by others does: what that one said is recorded by `npm run witness`.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type Azure, startAzure } from './azure-client.js'
import { askBlobs, type WitnessAnswer } from './blob-witness.js'

const file = join(import.meta.dirname, '../fixtures/blob-witness.json')
const { answers: witnessed } = JSON.parse(readFileSync(file, 'utf8')) as { answers: WitnessAnswer[] }
let azure: Azure
let answers: WitnessAnswer[]

/** Azure's own words, for which Azurite has another one or none. */
const ofAzure: Record<string, string> = {
  AuthorizationFailure: 'AuthenticationFailed',
  'a blob without a type': 'MissingRequiredHeader'
}

beforeAll(async () => {
  azure = await startAzure()
  const [storage] = (await azure.steer('GET', '/keys')).body.storage
  await azure.sasUri('witness')
  answers = await askBlobs(azure.baseUrl, storage, 'witness')
})
afterAll(() => azure.close())

test.each(witnessed.map((answer) => [answer.name, answer] as const))('%s', (name, answer) => {
  const code = ofAzure[answer.code ?? name] ?? answer.code
  expect(answers.find((one) => one.name === name)).toEqual({ ...answer, code })
})

test('every request of the table is recorded', () => {
  expect(witnessed.map(({ name }) => name)).toEqual(answers.map(({ name }) => name))
})
