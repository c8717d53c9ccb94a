// Answers of AWS that the emulator does not give, from a server that says what a test wants.
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { createBraket } from '../../../services/providers/braket/braket.js'

interface Answer {
  status?: number
  headers?: Record<string, string>
  body: string | object
}

const ARN = 'arn:aws:braket:us-east-1:123456789012:quantum-task/one'
const identity: Answer = { body: '<Account>123456789012</Account>' }
const taskEnded = (minutesAgo: number): Answer => ({
  body: {
    quantumTaskArn: ARN,
    status: 'COMPLETED',
    outputS3Directory: 'prefix/token/one',
    endedAt: new Date(Date.now() - minutesAgo * 60_000).toISOString()
  }
})
const xml = (status: number, code: string, more = ''): Answer => ({
  status,
  body: `<?xml version="1.0"?><Error><Code>${code}</Code><Message>In AWS&#39;s words</Message>${more}</Error>`
})

let answers: { sts: Answer; braket: Answer; s3: Answer }
let requests: IncomingMessage[] = []
const server = createServer((request, response) => {
  requests.push(request)
  const { url = '/' } = request
  const answer = answers[url === '/' ? 'sts' : /^\/(quantum|device)/.test(url) ? 'braket' : 's3']
  const { status = 200, headers = {}, body } = answer
  response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body))
})
await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
let braket = createBraket()
beforeEach(async () => {
  await braket.close()
  braket = createBraket({ braket: address, s3: address, sts: address })
  answers = { sts: identity, braket: taskEnded(0), s3: { body: '{}' } }
  requests = []
})
afterAll(async () => {
  await braket.close()
  server.close()
})

const credentials = {
  access_key_id: 'AKIAIOSFODNN7EXAMPLE',
  secret_access_key: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  s3_bucket: 'a-bucket'
}
const at = {
  credentials,
  place: { account: '123456789012', region: 'us-east-1', bucket: 'a-bucket', prefix: 'prefix' }
}
const task = { program: { text: '', qubits: 1, readout: { kind: 'qubits' as const, bits: [0] } }, shots: 1 }
const { signal } = new AbortController()
const counts = () => braket.counts(at, ARN, task, signal)
const look = () => braket.look(at, ARN, signal)
const described = { target: 'arn:aws:braket:us-east-1::device/qpu/a/B', width: null }

describe('a result that S3 forbids', () => {
  test('is not there yet for ten minutes after its task, and then lacks a permission', async () => {
    answers.s3 = xml(403, 'AccessDenied')
    answers.braket = taskEnded(9)
    await expect(counts()).rejects.toMatchObject({ kind: 'not_found' })
    answers.braket = taskEnded(11)
    await expect(counts()).rejects.toMatchObject({
      kind: 'unauthorized',
      message: expect.stringMatching(
        /s3:\/\/a-bucket\/prefix\/token\/one\/results.json .*In AWS's words.* s3:GetObject/
      )
    })
  })

  test('is not there yet where AWS does not say when its task ended', async () => {
    answers.s3 = xml(403, 'AccessDenied')
    answers.braket = { body: { outputS3Directory: 'a/b' } }
    await expect(counts()).rejects.toMatchObject({ kind: 'not_found' })
  })
})

describe('a result', () => {
  test('that is longer than those of its task is refused after the bytes that were asked for', async () => {
    answers.s3 = { status: 206, headers: { 'content-range': 'bytes 0-9/999999999' }, body: '0123456789' }
    await expect(counts()).rejects.toMatchObject({ kind: 'refused', message: expect.stringContaining('longer than') })
    expect(requests.at(-1)?.headers.range).toMatch(/^bytes=0-\d+$/)
  })

  test.each(['../other-bucket', 'prefix//one', 'a/../../b', '.'])(
    'in the folder %s is not fetched',
    async (outputS3Directory) => {
      answers.braket = { body: { outputS3Directory } }
      await expect(counts()).rejects.toMatchObject({ kind: 'refused' })
      expect(requests.filter(({ url }) => url?.startsWith('/a-bucket'))).toEqual([])
    }
  )

  test.each<[string, Answer, string, RegExp]>([
    ['a bucket that is gone', xml(404, 'NoSuchBucket'), 'unauthorized', /no such bucket/],
    [
      'a bucket elsewhere',
      xml(400, 'AuthorizationHeaderMalformed', '<Region>eu-west-2</Region>'),
      'unauthorized',
      /bucket is in eu-west-2/
    ],
    ['too many requests', xml(503, 'SlowDown'), 'busy', /503/],
    ['an outage', xml(500, 'InternalError'), 'unclear', /500/]
  ])('waits for %s', async (_what, answer, kind, message) => {
    answers.s3 = answer
    await expect(counts()).rejects.toMatchObject({ kind, message: expect.stringMatching(message) })
  })
})

describe('a request', () => {
  test('shows the schemas that it knows: without them, AWS leaves out what OpenQASM a device takes', async () => {
    await expect(braket.describe(credentials, described, signal)).rejects.toMatchObject({ kind: 'refused' })
    expect(requests.at(-1)?.headers['user-agent']).toMatch(/ BraketSchemas\/1\.([89]|\d\d)/)
  })

  test("that is refused for this machine's clock was not done, and asks nothing of the team", async () => {
    answers.braket = {
      status: 403,
      headers: { 'x-amzn-errortype': 'InvalidSignatureException:http://internal.amazon.com/coral/' },
      body: { message: 'Signature expired: 20260701T120000Z is now earlier than 20260701T122500Z' }
    }
    await expect(look()).rejects.toMatchObject({ kind: 'unreachable', message: expect.stringContaining('clock') })
  })

  test.each<[string, Partial<typeof answers>]>([
    ['without JSON', { braket: { body: '<html>' } }],
    ['with JSON that is no object', { braket: { body: 'null' } }],
    ['without an account', { sts: { body: '<html>' } }]
  ])('that is answered %s is unclear', async (_what, given) => {
    Object.assign(answers, given)
    await expect(look()).rejects.toMatchObject({ kind: 'unclear' })
  })

  test('for the list of tasks that is answered in another form is unclear, not a list without the task', async () => {
    answers.braket = { body: { tasks: [] } }
    const find = braket.find(at, { token: 'a-token', target: described.target }, new Date(), signal)
    await expect(find).rejects.toMatchObject({ kind: 'unclear' })
  })

  test("that AWS refuses is told in AWS's words", async () => {
    const message = 'User: arn:aws:iam::123456789012:user/u is not authorized to perform: braket:GetQuantumTask'
    answers.braket = { status: 403, headers: { 'x-amzn-errortype': 'AccessDeniedException' }, body: { message } }
    await expect(look()).rejects.toMatchObject({
      kind: 'unauthorized',
      message: `AWS Braket returned 403: ${message}`
    })
  })

  test('for what is no device of Braket is refused unsent', async () => {
    const target = 'https://elsewhere.example/device'
    await expect(braket.place(credentials, target, signal)).rejects.toMatchObject({ kind: 'refused' })
    expect(requests).toEqual([])
  })
})
