// The emulated S3 answers as a server of S3 by others does: what that one said is recorded by `npm run witness`.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type Braket, bucket, startBraket } from './braket-client.js'
import { askStorage, type WitnessAnswer } from './storage-witness.js'

const file = join(import.meta.dirname, 'fixtures/s3-witness.json')
const { answers: witnessed } = JSON.parse(readFileSync(file, 'utf8')) as { answers: WitnessAnswer[] }
let braket: Braket
let answers: WitnessAnswer[]

beforeAll(async () => {
  braket = await startBraket()
  const { access_key_id, secret_access_key } = braket.credentials
  answers = await askStorage(braket.baseUrl, bucket, {
    accessKeyId: access_key_id!,
    secretAccessKey: secret_access_key!
  })
})
afterAll(() => braket.close())

test.each(witnessed.map((answer) => [answer.name, answer] as const))('%s', (name, answer) => {
  expect(answers.find((one) => one.name === name)).toEqual(answer)
})

test('every request of the table is recorded', () => {
  expect(witnessed.map(({ name }) => name)).toEqual(answers.map(({ name }) => name))
})
