// The emulated AWS opens only to a right signature, key and token, and says in AWS's words what is wrong.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { type AwsKeys, type Braket, errorOf, forte, garnet, type Signing, startBraket } from './braket-client.js'

let braket: Braket
let keys: AwsKeys

beforeAll(async () => {
  braket = await startBraket()
  keys = braket.credentials as unknown as AwsKeys
})
beforeEach(() => braket.control.reset())
afterAll(() => braket.close())

const device = `/device/${encodeURIComponent(forte)}`
const object = '/amazon-braket-emulated/some/key%20with%20spaces'
const identity = 'Action=GetCallerIdentity&Version=2011-06-15'
const form = { 'content-type': 'application/x-www-form-urlencoded' }

describe('a right signature', () => {
  test('opens Braket, S3 and STS on one port', async () => {
    expect((await braket.call('GET', device)).body.deviceArn).toBe(forte)
    expect(errorOf(await braket.call('GET', object))).toEqual([404, 'NoSuchKey'])
    const { status, text } = await braket.call('POST', '/', identity, { headers: form })
    expect([status, /<Account>(\d+)</.exec(text)?.[1]]).toEqual([200, '123456789012'])
  })

  test('covers queries in any order', async () => {
    const arn = await braket.accepted()
    const path = `/quantum-task/${encodeURIComponent(arn)}?additionalAttributeNames=QueueInfo&a=%2F%20b&Z=`
    expect((await braket.call('GET', path)).body.queueInfo.position).toBe('1')
  })
})

const hour = 3_600_000
const wrong: [string, Signing, string, string, string][] = [
  [
    'another secret',
    { keys: { access_key_id: 'AKIAEMULATED00000001', secret_access_key: 'not-the-secret-of-this-key-at-all' } },
    'InvalidSignatureException',
    'SignatureDoesNotMatch',
    'SignatureDoesNotMatch'
  ],
  [
    'an unknown key',
    { keys: { access_key_id: 'AKIAUNKNOWN000000001', secret_access_key: 'not-the-secret-of-this-key-at-all' } },
    'UnrecognizedClientException',
    'InvalidAccessKeyId',
    'InvalidClientTokenId'
  ],
  [
    'a date of an hour ago',
    { at: new Date(Date.now() - hour) },
    'InvalidSignatureException',
    'RequestTimeTooSkewed',
    'SignatureDoesNotMatch'
  ],
  [
    'a date in an hour',
    { at: new Date(Date.now() + hour) },
    'InvalidSignatureException',
    'RequestTimeTooSkewed',
    'SignatureDoesNotMatch'
  ],
  [
    'an unknown region',
    { region: 'moon-1' },
    'InvalidSignatureException',
    'AuthorizationHeaderMalformed',
    'SignatureDoesNotMatch'
  ],
  [
    'a changed header',
    { tamper: ({ headers }) => Object.assign(headers, { 'x-amz-date': headers['x-amz-date']!.replace(/.Z$/, 'XZ') }) },
    'InvalidSignatureException',
    'RequestTimeTooSkewed',
    'SignatureDoesNotMatch'
  ],
  [
    'a header that is not signed',
    { tamper: ({ headers }) => Object.assign(headers, { 'x-amz-acl': 'private' }) },
    'InvalidSignatureException',
    'SignatureDoesNotMatch',
    'SignatureDoesNotMatch'
  ],
  [
    'half an Authorization header',
    { tamper: ({ headers }) => Object.assign(headers, { authorization: 'AWS4-HMAC-SHA256 Credential=x' }) },
    'IncompleteSignatureException',
    'AuthorizationHeaderMalformed',
    'IncompleteSignature'
  ]
]

describe.each(wrong)('%s', (_name, signing, ofBraket, ofS3, ofSts) => {
  test('is refused by every service in its own words', async () => {
    const [code, header] = errorOf(await braket.call('GET', device, undefined, signing))
    expect([code, header]).toEqual([403, ofBraket])
    expect(errorOf(await braket.call('GET', object, undefined, signing))[1]).toBe(ofS3)
    expect(errorOf(await braket.call('POST', '/', identity, { ...signing, headers: form }))[1]).toBe(ofSts)
  })
})

test('a request without a signature is refused', async () => {
  expect(errorOf(await braket.plain('GET', device))).toEqual([403, 'MissingAuthenticationTokenException'])
  expect(errorOf(await braket.plain('GET', object))).toEqual([403, 'AccessDenied'])
  expect(errorOf(await braket.plain('POST', '/', identity))).toEqual([403, 'MissingAuthenticationToken'])
})

test('a signature for another service is refused', async () => {
  expect(errorOf(await braket.call('GET', device, undefined, { service: 's3' }))[1]).toBe('InvalidSignatureException')
})

test('a body that is not the signed one is refused', async () => {
  const answer = await braket.submit({}, { tamper: (sent) => Object.assign(sent, { body: `${sent.body} ` }) })
  expect(errorOf(answer)).toEqual([403, 'InvalidSignatureException'])
  expect(braket.control.tasks()).toEqual([])
  const put = await braket.call('PUT', object, 'a', { tamper: (sent) => Object.assign(sent, { body: 'b' }) })
  expect(errorOf(put)).toEqual([400, 'XAmzContentSHA256Mismatch'])
})

test('a path that is not the signed one is refused', async () => {
  const answer = await braket.call('GET', device, undefined, {
    tamper: (sent) => Object.assign(sent, { path: `/device/${encodeURIComponent(garnet)}` })
  })
  expect(errorOf(answer)).toEqual([403, 'InvalidSignatureException'])
})

describe('keys', () => {
  const list = async (): Promise<(AwsKeys & { account: string })[]> => (await braket.steer('GET', '/keys')).body.keys
  const accountOf = async (own: AwsKeys) =>
    /<Account>(\d+)</.exec((await braket.call('POST', '/', identity, { keys: own, headers: form })).text)?.[1]

  test('are two of one account and one of another', async () => {
    const all = await list()
    expect(await Promise.all(all.map(accountOf))).toEqual(['123456789012', '123456789012', '210987654321'])
    expect(all.map(({ account }) => account)).toEqual(['123456789012', '123456789012', '210987654321'])
  })

  test('of the same account see a task, of another account do not', async () => {
    const arn = await braket.accepted()
    const [, second, stranger] = (await list()) as unknown as [AwsKeys, AwsKeys, AwsKeys]
    expect((await braket.task(arn, { keys: second })).status).toBe(200)
    expect(errorOf(await braket.task(arn, { keys: stranger }))).toEqual([403, 'AccessDeniedException'])
    const search = await braket.call('POST', '/quantum-tasks', { filters: [] }, { keys: stranger })
    expect(search.body).toEqual({ quantumTasks: [] })
    expect(errorOf(await braket.submit({}, { keys: stranger }))).toEqual([403, 'AccessDeniedException'])
  })

  test('that are revoked open nothing until they are restored', async () => {
    const switched = (active: boolean) => braket.steer('POST', '/keys', { access_key_id: keys.access_key_id, active })
    await switched(false)
    expect(errorOf(await braket.call('GET', device))).toEqual([403, 'UnrecognizedClientException'])
    await switched(true)
    expect((await braket.call('GET', device)).status).toBe(200)
  })
})

describe('a session token', () => {
  const issue = async (body: Record<string, unknown> = {}): Promise<AwsKeys> =>
    (await braket.steer('POST', '/tokens', body)).body

  test('opens the services until it expires in emulated time', async () => {
    const temporary = await issue({ expires_in_ms: 2 * hour })
    expect((await braket.call('GET', device, undefined, { keys: temporary })).status).toBe(200)
    braket.control.advance(3 * hour)
    expect(errorOf(await braket.call('GET', device, undefined, { keys: temporary }))).toEqual([
      403,
      'ExpiredTokenException'
    ])
    expect(errorOf(await braket.call('GET', object, undefined, { keys: temporary }))).toEqual([400, 'ExpiredToken'])
    expect((await braket.call('GET', device)).status).toBe(200)
  })

  test('is needed with its keys, and with no others', async () => {
    const { session_token, ...pair } = await issue()
    expect(errorOf(await braket.call('GET', device, undefined, { keys: pair }))).toEqual([
      403,
      'UnrecognizedClientException'
    ])
    const mixed = { ...keys, session_token: session_token! }
    expect(errorOf(await braket.call('GET', device, undefined, { keys: mixed }))[1]).toBe('UnrecognizedClientException')
  })

  test('seems expired to the requests that the fault "expire_tokens" names', async () => {
    await braket.steer('POST', '/faults', { kind: 'expire_tokens', match: { path: '/device' } })
    expect((await braket.call('POST', '/devices', { filters: [] })).status).toBe(200)
    expect(errorOf(await braket.call('GET', device))).toEqual([403, 'ExpiredTokenException'])
    expect((await braket.call('GET', device)).status).toBe(200)
  })
})
