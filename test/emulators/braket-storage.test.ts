// S3 of the emulated AWS, and the faults between a client and its results.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { eventually } from '../support/eventually.js'
import { type Braket, bucket, errorOf, startBraket } from './braket-client.js'

let braket: Braket

beforeAll(async () => {
  braket = await startBraket()
})
beforeEach(() => braket.control.reset())
afterAll(() => braket.close())

const completed = async (changes: Record<string, unknown> = {}) => {
  const arn = await braket.accepted(changes)
  braket.control.advance(120_000)
  return (await braket.task(arn)).body
}

describe('S3', () => {
  test('stores and returns objects, with or without their content', async () => {
    expect((await braket.call('PUT', `/${bucket}/a/b%20c`, 'content')).status).toBe(200)
    const found = await braket.call('GET', `/${bucket}/a/b%20c?x-id=GetObject`)
    expect([found.status, found.text]).toEqual([200, 'content'])
    expect(found.headers.get('etag')).toMatch(/^"[0-9a-f]{32}"$/)
    const head = await braket.call('HEAD', `/${bucket}/a/b%20c`)
    expect([head.status, head.text, head.headers.get('content-length')]).toEqual([200, '', '7'])
    expect((await braket.call('HEAD', `/${bucket}/a`)).status).toBe(404)
  })

  test('says 403 for a missing key without the right to list', async () => {
    await braket.steer('POST', '/settings', { list_bucket: false })
    expect(errorOf(await braket.call('GET', `/${bucket}/missing`))).toEqual([403, 'AccessDenied'])
    expect((await braket.call('HEAD', `/${bucket}`)).status).toBe(403)
    const record = await completed()
    expect((await braket.result(record)).status).toBe(200)
  })

  test('names the region of a bucket that lies elsewhere', async () => {
    await braket.steer('POST', '/buckets', { bucket, region: 'eu-west-1' })
    for (const [name, region] of [
      [`${bucket}-eu-north-1`, 'eu-north-1'],
      [bucket, 'eu-west-1']
    ]) {
      const answer = await braket.call('GET', `/${name}/key`)
      expect([...errorOf(answer), answer.headers.get('x-amz-bucket-region')]).toEqual([
        301,
        'PermanentRedirect',
        region
      ])
    }
    const head = await braket.call('HEAD', `/${bucket}`, undefined, { region: 'eu-west-1' })
    expect([head.status, head.headers.get('x-amz-bucket-region')]).toEqual([200, 'eu-west-1'])
  })

  test('refuses unknown buckets, those of others, and what it does not know', async () => {
    expect(errorOf(await braket.call('GET', '/no-such-bucket/key'))).toEqual([404, 'NoSuchBucket'])
    expect(errorOf(await braket.call('GET', `/${bucket}-other/key`))).toEqual([403, 'AccessDenied'])
    expect(errorOf(await braket.call('DELETE', `/${bucket}/key`))).toEqual([501, 'NotImplemented'])
    expect(errorOf(await braket.call('GET', `/${bucket}?list-type=2`))).toEqual([501, 'NotImplemented'])
  })
})

describe('a result', () => {
  test('appears when its lag has passed', async () => {
    await braket.steer('POST', '/timing', { result_lag_ms: 30_000 })
    const record = await completed()
    expect(record.status).toBe('COMPLETED')
    expect(errorOf(await braket.result(record))).toEqual([404, 'NoSuchKey'])
    braket.control.advance(30_000)
    expect((await braket.result(record)).body.measuredQubits).toEqual([0, 1, 2])
  })

  test('seems missing to the requests that the fault "result_lag" names', async () => {
    const record = await completed()
    await braket.steer('POST', '/faults', { kind: 'result_lag', times: 2 })
    expect((await braket.task(record.quantumTaskArn)).status).toBe(200)
    expect(errorOf(await braket.result(record))).toEqual([404, 'NoSuchKey'])
    await braket.steer('POST', '/settings', { list_bucket: false })
    expect(errorOf(await braket.result(record))).toEqual([403, 'AccessDenied'])
    expect((await braket.result(record)).status).toBe(200)
  })
})

describe('a fault', () => {
  const creating = { method: 'POST', path: '/quantum-task' }

  test.each([
    [402, 'ServiceQuotaExceededException'],
    [403, 'AccessDeniedException'],
    [424, 'DeviceOfflineException'],
    [429, 'ThrottlingException'],
    [503, 'InternalServiceException']
  ])('of status %i has the words of Braket', async (status, code) => {
    await braket.steer('POST', '/faults', { match: creating, kind: 'status', status, retry_after: 3 })
    const answer = await braket.submit()
    expect([...errorOf(answer), answer.headers.get('retry-after')]).toEqual([status, code, '3'])
    expect(braket.control.tasks()).toEqual([])
  })

  test('has the words of S3 for a result', async () => {
    const record = await completed()
    await braket.steer('POST', '/faults', { match: { path: `/${bucket}` }, kind: 'status_after', status: 503 })
    const answer = await braket.result(record)
    expect([...errorOf(answer), answer.headers.get('content-type')]).toEqual([503, 'SlowDown', 'application/xml'])
  })

  test('after the work leaves a task that its token finds', async () => {
    await braket.steer('POST', '/faults', { match: creating, kind: 'drop_after' })
    await expect(braket.submit({ clientToken: 'lost' })).rejects.toThrow('fetch failed')
    const [task] = braket.control.tasks()
    expect(await braket.accepted({ clientToken: 'lost' })).toBe(task!.id)
  })

  test('for /quantum-task does not reach /quantum-tasks', async () => {
    await braket.steer('POST', '/faults', { match: creating, kind: 'status' })
    expect((await braket.call('POST', '/quantum-tasks', { filters: [] })).status).toBe(200)
    expect((await braket.submit()).status).toBe(503)
  })

  test('"unknown_status" gives every task a state that no client knows', async () => {
    const arn = await braket.accepted()
    await braket.steer('POST', '/faults', { kind: 'unknown_status' })
    expect((await braket.task(arn)).body.status).toBe('RECALIBRATING')
    expect((await braket.task(arn)).body.status).toMatch(/^(CREATED|QUEUED)$/)
  })

  test('"accept_late" accepts a request whose signature was right when it came', async () => {
    await braket.steer('POST', '/faults', { match: creating, kind: 'accept_late', lag_ms: 50 })
    await expect(braket.submit()).rejects.toThrow('fetch failed')
    const list = async () => (await braket.call('POST', '/quantum-tasks', { filters: [] })).body.quantumTasks
    expect(await eventually(async () => ((await list()).length > 0 ? list() : null))).toHaveLength(1)
  })
})

test('Braket, S3 and STS have one address', () => {
  const address = braket.baseUrl
  expect(braket.variables).toEqual({
    AWS_ENDPOINT_URL_BRAKET: address,
    AWS_ENDPOINT_URL_S3: address,
    AWS_ENDPOINT_URL_STS: address
  })
})
