// Large responses and bodies, as clients meet them: byte for byte, within the budget of memory, and not held by readers that do
// not read.
import { createHash, randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { startApi, type TestUser } from '../../../support/api/api.js'
import { finishJob } from '../../../support/capsules/capsule-rows.js'
import { eventually } from '../../../support/eventually.js'
import { submission } from '../../../support/jobs/builders.js'

const MIB = 1024 ** 2
const api = await startApi('large_content', {
  largeLimits: { bytes: 16 * MIB, share: 8 * MIB, waitMs: 300, stallMs: 300 }
})
const { db } = api.database
const budget = api.app.large.budgets.transfers
const sockets: Socket[] = []
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  await api.close()
})

let ada: TestUser
let job: string
let port: number
const result = `{"counts":{"0":1},"text":"${'é'.repeat(4 * MIB)}","large":12345678901234567890}`
const file = randomBytes(3 * MIB + 1)
beforeAll(async () => {
  ada = await api.signUp()
  job = await ada.submit(submission())
  await finishJob(db, job, result, [{ name: 'state.bin', mediaType: 'application/octet-stream', content: file }])
  port = Number(new URL(await api.listen()).port)
})

/** Requests a path and reads nothing of the response. */
function requestWithoutReading(path: string, user = ada): Socket {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.pause()
  socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\ncookie: ${user.cookie}\r\n\r\n`)
  sockets.push(socket)
  return socket
}

describe('a large response', () => {
  test('has the exact text of the result, in the record and in the status', async () => {
    const record = await ada.get(`/api/jobs/${job}`)
    expect(record.text.endsWith(`,"result":${result}}`)).toBe(true)
    expect(Number(record.headers['content-length'])).toBe(Buffer.byteLength(record.text))
    const status = await ada.get(`/api/jobs/${job}/status`)
    expect(status.text.endsWith(`,"result":${result}}`)).toBe(true)
    expect(Object.keys(status.body)).toHaveLength(7)
  })

  test('has the exact bytes of a file', async () => {
    // The other one takes a reader that is kept waiting for 300 ms for one that does not read.
    const patient = await startApi('large_content_patient', { database: api.database })
    try {
      const response = await fetch(`${await patient.listen()}/api/jobs/${job}/artifacts/state.bin`, {
        headers: { cookie: ada.cookie }
      })
      const bytes = Buffer.from(await response.arrayBuffer())
      const sha256 = createHash('sha256').update(bytes).digest('hex')
      expect([bytes.equals(file), response.headers.get('etag')]).toEqual([true, `"${sha256}"`])
    } finally {
      await patient.close()
    }
  })

  test('that its reader does not read is given up, and its memory is given back', async () => {
    for (let reader = 0; reader < 2; reader++) requestWithoutReading(`/api/jobs/${job}/status`)
    await eventually(() => expect(budget.used).toBe(8 * MIB))
    await eventually(() => expect(budget.used).toBe(0))
  })

  test('of another caller is sent while one caller holds its share and has more waiting', async () => {
    const bob = await api.signUp()
    const his = await bob.submit(submission())
    await finishJob(db, his, result)
    for (let reader = 0; reader < 6; reader++) requestWithoutReading(`/api/jobs/${job}/status`)
    await eventually(() => expect(budget.used).toBe(8 * MIB))
    const [mine, theirs] = await Promise.all([ada.get(`/api/jobs/${job}`), bob.get(`/api/jobs/${his}`)])
    expect(theirs.status).toBe(200)
    // Her own request waits behind those that she does not read.
    expect([200, 503]).toContain(mine.status)
    if (mine.status === 503) expect(mine.headers['retry-after']).toBe('2')
  })
})

describe('a large body', () => {
  test('waits for memory before it is read, and is refused with 503 when there is none', async () => {
    await eventually(() => expect(budget.used).toBe(0))
    const release = budget.force('someone', 16 * MIB)
    const large = submission({ params: { shots: 1, note: 'x'.repeat(MIB) } })
    const refused = await ada.post('/api/jobs/submit', large)
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '2'])
    // A small one needs none.
    expect((await ada.post('/api/jobs/submit', submission())).status).toBe(201)
    release()
    expect((await ada.post('/api/jobs/submit', large)).status).toBe(201)
  })
})

test('large JSON bodies of one caller are read at 4 MiB a second, whether they come together or one after the other', async () => {
  const bob = await api.signUp()
  const large = () => bob.post('/api/jobs/submit', submission({ params: { shots: 1, note: 'x'.repeat(MIB / 2) } }))
  await bob.submit(submission())
  const together = performance.now()
  expect((await Promise.all([large(), large(), large()])).map(({ status }) => status)).toEqual([201, 201, 201])
  // The pause after the third is not waited for. A timer of Node can fire a millisecond or two early.
  expect(performance.now() - together).toBeGreaterThan(245)
  const alone = performance.now()
  for (let turn = 0; turn < 3; turn++) expect((await large()).status).toBe(201)
  expect(performance.now() - alone).toBeGreaterThan(245)
})

test('a body that does not arrive ends its connection within 40 seconds', () => {
  const { server } = api.app as unknown as { server: Record<string, number> }
  expect([server.requestTimeout, server.headersTimeout]).toEqual([30_000, 10_000])
  const name = Object.getOwnPropertySymbols(server).find(
    ({ description }) => description === 'http.server.connectionsCheckingInterval'
  )!
  expect(server[name as never]).toMatchObject({ _repeat: 2_000 })
})
