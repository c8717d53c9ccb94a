// The adapter of IBM Quantum against a server that says what a test wants: tokens, the instance, and credentials.
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { Credentials } from '../../../domain/backends/provider-credentials.js'
import { addressOf } from '../../../services/providers/ibm/instance.js'
import { at, CRN, credentials, crnOf, fault, OTHER_CRN, signal, startIbmScene, target, task } from './ibm-scene.js'
import { type Answer, accessToken, refusal } from './ibm-server.js'

const scene = await startIbmScene()
const { server, submit, look, describe: describeDevice } = scene
beforeEach(() => scene.reset())
afterAll(() => scene.close())

describe('a token of IAM', () => {
  test('is requested once with the key, and sent with the instance and the version of the API', async () => {
    await look()
    await look()
    expect(server.tokenRequests()).toHaveLength(1)
    const form = Object.fromEntries(new URLSearchParams(server.tokenRequests()[0]!.body))
    expect(form).toEqual({ grant_type: 'urn:ibm:params:oauth:grant-type:apikey', apikey: credentials.token })
    expect(server.requests()[1]!.headers).toMatchObject({
      authorization: 'Bearer access-token-of-the-hour',
      'service-crn': CRN,
      'ibm-api-version': '2026-04-15'
    })
  })

  test.each([300, 0, -1, null, '3600'])(
    'that expires within five minutes, or at no known time (%p), is used once',
    async (expires) => {
      server.answer({ 'POST /identity/token': accessToken('a-short-token', expires) })
      await look()
      await look()
      expect(server.tokenRequests()).toHaveLength(2)
    }
  )

  test('is not that of another key', async () => {
    await look()
    await scene.ibm.look({ ...at, credentials: { ...credentials, token: 'another-api-key' } }, 'one', signal)
    expect(server.tokenRequests()).toHaveLength(2)
  })

  test('that IBM no longer takes is replaced once', async () => {
    let issued = 0
    server.answer({
      'POST /identity/token': () => accessToken(`access-token-${++issued}`),
      'GET /jobs/one': ({ headers }) =>
        headers.authorization === 'Bearer access-token-1'
          ? refusal(401, 1219, 'Error authenticating user.')
          : { body: { state: { status: 'Running' } } }
    })
    expect(await look()).toMatchObject({ status: 'running' })
    expect(await look()).toMatchObject({ status: 'running' })
    expect([issued, server.requests().length]).toEqual([2, 3])
  })

  test('is replaced at the paid request too, which is then sent once more', async () => {
    let issued = 0
    server.answer({
      'POST /identity/token': () => accessToken(`access-token-${++issued}`),
      'POST /jobs': ({ headers }) =>
        headers.authorization === 'Bearer access-token-1' ? { status: 401 } : { body: { id: 'one' } }
    })
    expect(await submit()).toBe('one')
    expect(server.requests().map(({ body }) => body)).toEqual(Array(2).fill(expect.stringContaining(task.token)))
  })

  test('that IBM rejects for good means rejected credentials, after one more', async () => {
    server.answer({ 'GET /jobs/one': refusal(401, 1219, 'Error authenticating user.') })
    await expect(look()).rejects.toEqual(
      fault('unauthorized', 'IBM Quantum returned 401: Error authenticating user. \\(1219\\)')
    )
    expect([server.tokenRequests().length, server.requests().length]).toEqual([2, 2])
  })

  test('is refused for a key that IAM does not know: the team reads what to store', async () => {
    server.answer({
      'POST /identity/token': {
        status: 400,
        body: { errorCode: 'BXNIM0415E', errorMessage: 'Provided API key could not be found.', context: {} }
      }
    })
    const told = fault('unauthorized', /IAM returned 400: Provided API key could not be found.; store a valid token/)
    await expect(scene.ibm.verify(credentials, signal)).rejects.toEqual(told)
    await expect(submit()).rejects.toEqual(told)
    expect(server.requests()).toEqual([])
  })

  test.each<[string, Answer]>([
    ['fails', { status: 503, body: '<html>' }],
    ['answers without JSON', { body: '<html>' }],
    ['answers null', { body: 'null' }],
    ['names no token', { body: { expires_in: 3600 } }],
    ['names a token that is no text', { body: { access_token: { a: 1 }, expires_in: 3600 } }],
    ['names a token that would add a header', { body: { access_token: 'a\r\nx-evil: 1', expires_in: 3600 } }],
    ['names a token that is too long', accessToken('t'.repeat(10_000))]
  ])('is missing when IAM %s: nothing was sent to IBM Quantum', async (_what, answer) => {
    server.answer({ 'POST /identity/token': answer })
    await expect(submit()).rejects.toEqual(fault('unreachable', 'IBM Cloud IAM'))
    expect(server.requests()).toEqual([])
  })

  test('and a key are in no message, even if an answer repeats them', async () => {
    const messages: string[] = []
    const failed = (error: unknown) => messages.push((error as Error).message)
    server.answer({ 'GET /jobs/one': ({ headers }) => refusal(400, 1, `${'x'.repeat(480)}${headers.authorization}`) })
    await look().catch(failed)
    server.answer({ 'GET /jobs/one': ({ headers }) => refusal(400, 1, `headers: ${headers.authorization}`) })
    await look().catch(failed)
    server.answer({
      'POST /identity/token': ({ body }) => ({ status: 400, body: { errorMessage: decodeURIComponent(body) } })
    })
    await scene.ibm.verify(credentials, signal).catch(failed)
    // IBM itself cuts its message off inside the token, or repeats it so often that our cut falls into it.
    server.answer({ 'GET /jobs/one': ({ headers }) => refusal(400, 1, `${headers.authorization}`.slice(0, -3)) })
    await look().catch(failed)
    server.answer({ 'GET /jobs/one': ({ headers }) => refusal(400, 1, `${headers.authorization} `.repeat(200)) })
    await look().catch(failed)
    expect(messages).toHaveLength(5)
    for (const message of messages) expect(message).not.toMatch(/CANARY|access-t/)
  })
})

describe('the instance', () => {
  test('decides the address by its region', () => {
    expect(addressOf({ crn: CRN, region: 'us-east' })).toBe('https://quantum.cloud.ibm.com/api/v1')
    expect(addressOf({ crn: crnOf('eu-de'), region: 'eu-de' })).toBe('https://eu-de.quantum.cloud.ibm.com/api/v1')
  })

  test('is the place of a job, with its region', async () => {
    expect(await scene.ibm.place(credentials, target, signal)).toEqual({ account: CRN, region: 'us-east' })
    const german = { ...credentials, instance: crnOf('eu-de') }
    expect(await scene.ibm.place(german, target, signal)).toEqual({ account: crnOf('eu-de'), region: 'eu-de' })
  })

  test.each<[string, Credentials, RegExp]>([
    ['is missing', { token: 'an-api-key' }, /^No instance: set instance in the team's ibm-quantum credentials$/],
    [
      'is a path',
      { token: 'an-api-key', instance: 'ibm-q/open/main' },
      /path hub\/group\/project, which IBM has ended: set instance .* CRN/
    ],
    [
      'is in a region without IBM Quantum',
      { token: 'an-api-key', instance: crnOf('mars-1') },
      /in mars-1.* us-east, eu-de: set instance/
    ]
  ])('that %s is refused before anything is sent, with what to set', async (_what, own, reason) => {
    await expect(scene.ibm.place(own, target, signal)).rejects.toEqual(fault('refused', reason))
    await expect(describeDevice(own)).rejects.toEqual(fault('refused', reason))
    await expect(scene.ibm.stage({ credentials: own, place: {} }, task, signal)).rejects.toEqual(
      fault('refused', reason)
    )
    // Another team's credentials are then used to read the machines.
    await expect(scene.ibm.backends(own, signal)).rejects.toEqual(fault('unauthorized', reason))
    expect(server.requests()).toEqual([])
  })

  test('of a job stays that of its submission, and the present key is used', async () => {
    await scene.ibm.look({ ...at, credentials: { token: 'another-api-key', instance: OTHER_CRN } }, 'one', signal)
    expect(server.requests()[0]!.headers['service-crn']).toBe(CRN)
  })

  test('that the present key does not open is named', async () => {
    server.answer({ 'GET /jobs/one': refusal(404, 1291, 'Job not found. Job ID: one') })
    const moved = { ...at, credentials: { ...credentials, instance: OTHER_CRN } }
    await expect(scene.ibm.look(moved, 'one', signal)).rejects.toEqual(
      fault('unauthorized', `Job not found.*the job is in the instance ${CRN}`)
    )
    await expect(look()).rejects.toEqual(fault('not_found', /404/))
  })

  test('keeps a job waiting whose key the team has deleted', async () => {
    const keyless = { ...at, credentials: { instance: CRN } }
    await expect(scene.ibm.look(keyless, 'one', signal)).rejects.toEqual(fault('unauthorized', /set token/))
  })
})

describe('credentials', () => {
  test('are checked with IAM and the instance, and what they open is named', async () => {
    expect(await scene.ibm.verify(credentials, signal)).toEqual({ instance: CRN, region: 'us-east', devices: [target] })
    await scene.ibm.verify(credentials, signal)
    // The token in use says nothing about the key.
    expect(server.tokenRequests()).toHaveLength(2)
  })

  test('without an instance are taken, and what they lack is named', async () => {
    expect(await scene.ibm.verify({ token: 'an-api-key' }, signal)).toEqual({
      instance: 'not set: jobs need instance',
      faults: ['instance is not set: jobs need it']
    })
  })

  test.each([
    ['that IBM does not know', CRN, refusal(404, 1, 'no such instance'), /no such instance/],
    ['that is not theirs', CRN, refusal(403, 1, 'no access'), /no access/],
    ['that is a path', 'ibm-q/open/main', {}, /IBM has ended/]
  ])('with an instance %s are rejected', async (_what, instance, answer, reason) => {
    server.answer({ 'GET /backends': answer })
    await expect(scene.ibm.verify({ ...credentials, instance }, signal)).rejects.toEqual(fault('unauthorized', reason))
  })

  test('are neither valid nor invalid while IBM is away', async () => {
    server.answer({ 'GET /backends': { status: 503 } })
    await expect(scene.ibm.verify(credentials, signal)).rejects.toEqual(fault('unclear', /503/))
  })
})
