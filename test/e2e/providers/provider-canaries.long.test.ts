// What a team stores for a provider, and what is made of it for a request, stays where it belongs: no credential, token or
// signature is in a history, a log, a queue, a row or a capsule, and no published file names the team's account.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { packageLimits } from '../../../capsule-format/archive/archive-entries.js'
import { readTarGz } from '../../../capsule-format/archive/tar-reader.js'
import { readZip } from '../../../capsule-format/archive/zip-reader.js'
import { type KeptTexts, keptTexts, placesOf } from '../../support/stack/kept-texts.js'
import { type ProviderPlatform, startProviderPlatform } from '../../support/stack/provider-platform.js'
import { providers } from '../../support/stack/provider-rows.js'

let platform: ProviderPlatform
beforeAll(async () => {
  platform = await startProviderPlatform('provider-canaries', {
    providers: providers.map(({ name }) => name),
    env: { LOG_LEVEL: 'trace' }
  })
}, 240_000)

beforeEach(async () => {
  for (const { name } of providers) {
    platform.provider(name).reset()
    await platform.storeCredentials(name)
  }
})

afterAll(() => platform.close())

/** The account of the emulated AWS. */
const ACCOUNT = '123456789012'
/** What a signed or authorized request has in its headers or address. */
const marks = [
  'AWS4-HMAC-SHA256',
  'X-Amz-Signature',
  'X-Amz-Security-Token',
  'X-Amz-Credential',
  '"authorization":',
  // A JSON Web Token, and the version in a signed address of Azure's storage.
  'eyJ0eXAiOiJKV1Qi',
  'sv=2023-11-03'
]

/** The values that open something; the others are names. */
const secretsOf = (credentials: Record<string, string>): string[] =>
  Object.entries(credentials)
    .filter(([key]) => /api_key|secret|token|password/.test(key))
    .map(([, value]) => value)

async function ask<T>(method: string, path: string, body: unknown, status: number): Promise<T> {
  const response = await platform.call(method, path, body)
  const text = await response.text()
  if (response.status !== status) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
  return JSON.parse(text) as T
}

/** A published capsule of a job: both kinds of its file, entry by entry, and what the catalogue shows. */
async function publishedTexts(job: string): Promise<KeptTexts> {
  const { capsule_id: id } = await ask<{ capsule_id: string }>('POST', '/api/capsules/from-job', { job_id: job }, 201)
  await ask('POST', `/api/capsules/${id}/seal`, { exit_code: 0, margin: 0.2 }, 200)
  const body = { title: `Published ${job}`, description: 'a job at a provider' }
  const { publication } = await ask<{ publication: { slug: string } }>('POST', `/api/capsules/${id}/publish`, body, 200)
  const texts: KeptTexts = new Map()
  for (const [format, read] of [
    ['capsule', readTarGz],
    ['rocrate', readZip]
  ] as const) {
    const response = await platform.call('GET', `/api/capsules/${id}/export?format=${format}`)
    expect(response.status).toBe(200)
    const entries = await read(Buffer.from(await response.arrayBuffer()), packageLimits)
    for (const [name, content] of entries) texts.set(`${format}: ${name}`, content.toString('utf8'))
  }
  // As anybody sees it.
  const shown = await fetch(`${platform.url()}/api/capsules/public/${publication.slug}`)
  expect(shown.status).toBe(200)
  texts.set('catalogue', await shown.text())
  return texts
}

describe.each(providers)('$name', ({ name, submitting, looking }) => {
  test('no credential and no signature is in a history, a log, a queue, a row or a published capsule', async () => {
    const control = platform.provider(name)
    // Failures write more than successes: a lost answer, and refusals that are met again.
    control.fault({ match: submitting, kind: 'drop_after' })
    control.fault({ match: looking, kind: 'status', status: 401 })
    control.fault({ match: looking, kind: 'status', status: 500 })
    const failing = await platform.submitAt(name)
    const job = await platform.submitAt(name, { execution_mode: 'temporal' })
    for (const id of [failing, job])
      expect(await platform.ended(id)).toMatchObject({ status: 'completed', error: null })

    const published = await publishedTexts(job)
    const kept = await keptTexts(platform, [failing, job])
    // The places are read as they should be: the job itself is found.
    expect(placesOf([job], kept)).toEqual(
      expect.arrayContaining([`history of ${job}`, 'table jobs', 'table provider_tasks'])
    )
    for (const part of ['api', 'worker']) expect(kept.get(`log of ${part}`)).not.toBe('')
    expect(placesOf([...secretsOf(platform.credentialsOf(name)), ...marks], new Map([...kept, ...published]))).toEqual(
      []
    )
  }, 240_000)
})

test('a session token of AWS is in a request alone', async () => {
  const { access_key_id, secret_access_key, session_token } = await platform.steer<Record<string, string>>(
    'aws-braket',
    '/tokens',
    { expires_in_ms: 3_600_000 }
  )
  await platform.storeCredentials('aws-braket', {
    access_key_id: access_key_id!,
    secret_access_key: secret_access_key!,
    session_token: session_token!
  })
  const job = await platform.submitAt('aws-braket')
  await platform.accepted(job)
  // Expired tokens are refused in words that could repeat them.
  platform.provider('aws-braket').fault({ match: { path: '/quantum-task/' }, kind: 'expire_tokens' })
  expect(await platform.ended(job)).toMatchObject({ status: 'completed' })
  const all = new Map([...(await keptTexts(platform, [job])), ...(await publishedTexts(job))])
  expect(placesOf([secret_access_key!, session_token!, ...marks], all)).toEqual([])
}, 240_000)

test("nothing that is published of a job at AWS Braket has the account's number, which its team sees", async () => {
  const job = await platform.submitAt('aws-braket')
  const record = await platform.ended(job)
  expect(JSON.stringify(record.provider_jobs)).toContain(ACCOUNT)
  expect(JSON.stringify(record.result)).not.toContain(ACCOUNT)
  const published = await publishedTexts(job)
  const { provider_job_id } = record.result!.metadata as { provider_job_id: string }
  expect(placesOf([provider_job_id], published)).not.toEqual([])
  expect(placesOf([ACCOUNT], published)).toEqual([])
}, 240_000)
