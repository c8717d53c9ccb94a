// Blob storage of the emulated Azure: what a signature opens and until when, blobs and their parts, and what is refused.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { type Azure, errorOf, startAzure, within } from './azure-client.js'
import { type Signed, type StorageAccount, serviceSas } from './sas.js'

const day = 24 * 3_600_000
let azure: Azure
let storage: StorageAccount
let container: string

beforeAll(async () => {
  azure = await startAzure()
})
beforeEach(async () => {
  azure.control.reset()
  ;[storage] = (await azure.steer('GET', '/keys')).body.storage
  container = await azure.sasUri('a-container')
})
afterAll(() => azure.close())

const later = (ms: number): string => `${new Date(Date.now() + ms).toISOString().slice(0, 19)}Z`
const signed = (fields: Partial<Signed> = {}, blob: string | null = null): string =>
  serviceSas(storage, 'a-container', blob, { permissions: 'rcw', expires: later(day), ...fields })
const at = (query: string, blob = 'a'): string => `${azure.baseUrl}/${storage.account}/a-container/${blob}?${query}`
const get = (url: string, headers: Record<string, string> = {}) => azure.fetched(url, { headers })
const detailOf = (text: string) => /<AuthenticationErrorDetail>(.*?)</.exec(text)?.[1]

describe('the service signs', () => {
  test('the address of a container to read, write and list', async () => {
    expect(container).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/emulatedquantum\/a-container\?sv=.*&sr=c&sp=rcwl&sig=/)
    expect((await azure.upload(container, 'a', 'content')).status).toBe(201)
    expect((await get(within(container, 'a'))).text).toBe('content')
  })

  test('the address of a blob to read, whether or not it exists', async () => {
    const address = await azure.sasUri('a-container', 'dir/a b')
    expect(errorOf(await get(address))).toEqual([404, 'BlobNotFound'])
    await azure.upload(container, 'dir/a%20b', 'content')
    expect((await get(address)).text).toBe('content')
    const other = address.replace('dir/a%20b', 'dir/c')
    expect(errorOf(await get(other))).toEqual([403, 'AuthenticationFailed'])
    const put = { method: 'PUT', headers: { 'x-ms-blob-type': 'BlockBlob' }, body: 'other' }
    expect(errorOf(await azure.fetched(address, put))).toEqual([403, 'AuthorizationPermissionMismatch'])
  })

  test('for a day of the emulated clock, or as long as the test sets', async () => {
    await azure.upload(container, 'a', 'content')
    azure.control.advance(day - 60_000)
    expect((await get(within(container, 'a'))).status).toBe(200)
    azure.control.advance(120_000)
    const expired = await get(within(container, 'a'))
    expect([...errorOf(expired), detailOf(expired.text)]).toEqual([
      403,
      'AuthenticationFailed',
      expect.stringContaining('not valid in the specified time frame')
    ])
    await azure.steer('POST', '/settings', { sas_ms: 5 * day })
    const longer = await azure.sasUri('a-container', 'a')
    azure.control.advance(4 * day)
    expect((await get(longer)).text).toBe('content')
  })

  test('no name that is not that of a container', async () => {
    for (const name of ['ab', 'A-Container', 'a--b', '-a', 'x'.repeat(64), '../a'])
      expect([name, (await azure.call('POST', '/storage/sasUri', { containerName: name })).status]).toEqual([name, 400])
    for (const body of [{}, { containerName: 1 }, { containerName: 'abc', blobName: '' }])
      expect((await azure.call('POST', '/storage/sasUri', body)).status).toBe(400)
  })
})

describe('a signature by the documentation', () => {
  beforeEach(async () => {
    await azure.upload(container, 'a', 'content')
  })

  test('opens what it names', async () => {
    expect((await get(at(signed()))).text).toBe('content')
    expect((await get(at(signed({}, 'a')))).text).toBe('content')
    expect((await get(at(signed({ starts: later(-day), protocol: 'https,http' })))).text).toBe('content')
  })

  test.each<[string, () => string, string, string]>([
    ['is missing', () => '', 'AuthenticationFailed', 'no shared access signature'],
    ['is of another blob', () => signed({}, 'b'), 'AuthenticationFailed', 'did not match'],
    [
      'was changed',
      () => signed({ permissions: 'r' }).replace('sp=r', 'sp=rw'),
      'AuthenticationFailed',
      'did not match'
    ],
    ['has expired', () => signed({ expires: later(-1000) }), 'AuthenticationFailed', 'time frame'],
    ['begins later', () => signed({ starts: later(day) }), 'AuthenticationFailed', 'time frame'],
    ['has no valid expiry', () => signed({ expires: 'tomorrow' }), 'AuthenticationFailed', 'time frame']
  ])('that %s opens nothing', async (_what, query, code, words) => {
    const answer = await get(at(query()))
    expect([...errorOf(answer), answer.headers.get('x-ms-error-code'), detailOf(answer.text)]).toEqual([
      403,
      code,
      code,
      expect.stringContaining(words)
    ])
  })

  test.each<[string, Partial<Signed>, string]>([
    ['without the right to read', { permissions: 'cw' }, 'AuthorizationPermissionMismatch'],
    ['for TLS alone', { protocol: 'https' }, 'AuthorizationProtocolMismatch']
  ])('%s names what it lacks', async (_what, fields, code) => {
    expect(errorOf(await get(at(signed(fields))))).toEqual([403, code])
  })

  test('to create cannot replace', async () => {
    const query = signed({ permissions: 'c' })
    const put = (blob: string) =>
      azure.fetched(at(query, blob), { method: 'PUT', headers: { 'x-ms-blob-type': 'BlockBlob' }, body: 'x' })
    expect((await put('new')).status).toBe(201)
    expect(errorOf(await put('new'))).toEqual([403, 'AuthorizationPermissionMismatch'])
  })

  test('of another account opens nothing', async () => {
    const other = (await azure.steer('GET', '/keys')).body.storage[1]
    const query = serviceSas(other, 'a-container', null, { permissions: 'r', expires: later(day) })
    expect(errorOf(await get(at(query)))).toEqual([403, 'AuthenticationFailed'])
  })

  test('for a container that was never made finds nothing', async () => {
    const query = serviceSas(storage, 'never-made', null, { permissions: 'rcw', expires: later(day) })
    const url = `${azure.baseUrl}/${storage.account}/never-made/a?${query}`
    expect(errorOf(await get(url))).toEqual([404, 'ContainerNotFound'])
    const put = { method: 'PUT', headers: { 'x-ms-blob-type': 'BlockBlob' }, body: 'x' }
    expect(errorOf(await azure.fetched(url, put))).toEqual([404, 'ContainerNotFound'])
  })

  test('seems expired to the requests that the fault "expire_tokens" names', async () => {
    await azure.steer('POST', '/faults', { kind: 'expire_tokens', match: { path: '/emulatedquantum' } })
    expect(errorOf(await get(at(signed())))).toEqual([403, 'AuthenticationFailed'])
    expect((await get(at(signed()))).status).toBe(200)
  })
})

describe('a blob', () => {
  test('has its type, its length and a tag, with or without its content', async () => {
    const stored = await azure.upload(container, 'a', '{"a":1}', { 'x-ms-blob-content-type': 'application/json' })
    expect([stored.status, stored.headers.get('etag')]).toEqual([201, expect.stringMatching(/^"0x[0-9A-F]+"$/)])
    for (const method of ['GET', 'HEAD']) {
      const { status, text, headers } = await azure.fetched(within(container, 'a'), { method })
      expect([status, text, headers.get('content-length'), headers.get('content-type')]).toEqual([
        200,
        method === 'GET' ? '{"a":1}' : '',
        '7',
        'application/json'
      ])
      expect(headers.get('etag')).toBe(stored.headers.get('etag'))
      expect(headers.get('x-ms-blob-type')).toBe('BlockBlob')
    }
    const missing = await azure.fetched(within(container, 'b'), { method: 'HEAD' })
    expect([missing.status, missing.headers.get('x-ms-error-code')]).toEqual([404, 'BlobNotFound'])
  })

  test.each([
    ['bytes=2-4', '234', 'bytes 2-4/10'],
    ['bytes=7-', '789', 'bytes 7-9/10'],
    ['bytes=0-99', '0123456789', 'bytes 0-9/10']
  ])('has the part %s', async (range, text, contentRange) => {
    await azure.upload(container, 'a', '0123456789')
    for (const header of ['range', 'x-ms-range']) {
      const answer = await get(within(container, 'a'), { [header]: range })
      expect([answer.status, answer.text, answer.headers.get('content-range')]).toEqual([206, text, contentRange])
    }
  })

  test('has no part beyond its end', async () => {
    await azure.upload(container, 'a', '0123456789')
    const answer = await get(within(container, 'a'), { range: 'bytes=10-20' })
    expect([...errorOf(answer), answer.headers.get('content-range')]).toEqual([416, 'InvalidRange', 'bytes */10'])
    await azure.upload(container, 'empty', '')
    expect((await get(within(container, 'empty'), { range: 'bytes=0-9' })).status).toBe(416)
    expect((await get(within(container, 'empty'))).status).toBe(200)
  })

  test('is replaced, unless the client asks not to', async () => {
    await azure.upload(container, 'a', 'first')
    expect(errorOf(await azure.upload(container, 'a', 'second', { 'if-none-match': '*' }))).toEqual([
      409,
      'BlobAlreadyExists'
    ])
    await azure.upload(container, 'a', 'third')
    expect((await get(within(container, 'a'))).text).toBe('third')
  })

  test('needs a type, which is that of a block blob', async () => {
    const put = (headers: Record<string, string>) =>
      azure.fetched(within(container, 'a'), { method: 'PUT', headers, body: 'x' })
    expect(errorOf(await put({}))).toEqual([400, 'MissingRequiredHeader'])
    expect(errorOf(await put({ 'x-ms-blob-type': 'AppendBlob' }))).toEqual([501, 'NotImplemented'])
  })

  test('has at most 8 MiB', async () => {
    const size = 8 * 1024 * 1024
    expect((await azure.upload(container, 'a', 'x'.repeat(size))).status).toBe(201)
    expect(errorOf(await azure.upload(container, 'b', 'x'.repeat(size + 1)))).toEqual([413, 'RequestBodyTooLarge'])
    expect((await azure.upload(container, 'c', 'x'.repeat(11 * 1024 * 1024)).catch(() => null))?.status ?? 413).toBe(
      413
    )
  })

  test('cannot be listed, deleted or sent in blocks', async () => {
    const listing = `${container}&restype=container&comp=list`
    expect(errorOf(await get(listing))).toEqual([501, 'NotImplemented'])
    expect(errorOf(await azure.fetched(within(container, 'a'), { method: 'DELETE' }))).toEqual([501, 'NotImplemented'])
    const block = `${within(container, 'a')}&comp=block&blockid=AA==`
    expect(errorOf(await azure.fetched(block, { method: 'PUT', body: 'x' }))).toEqual([501, 'NotImplemented'])
  })
})
