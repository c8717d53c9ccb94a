// A service that is stopping: requests that are under way when it begins to stop get their normal responses.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, expect, test } from '@jest/globals'
import { startApi } from '../../support/api/api.js'
import { eventually } from '../../support/eventually.js'
import { submission } from '../../support/jobs/builders.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('closing')
afterAll(() => database.drop())

test.each([
  ['a poll', 200, { status: 'pending' }],
  ['a submission', 201, { job_id: expect.any(String) }],
  ['a refusal', 404, { error: expect.any(String) }]
])(
  '%s that arrives while the service stops gets its normal response, and its connection is closed',
  async (what, status, body) => {
    const api = await startApi('closing', { database })
    const ada = await api.signUp()
    const id = await ada.submit(submission())
    const sent = JSON.stringify(submission())
    const line = {
      'a poll': `GET /api/jobs/${id}/status?wait=22`,
      'a submission': 'POST /api/jobs/submit',
      'a refusal': 'GET /api/nothing'
    }[what]!
    const { hostname, port } = new URL(await api.listen())
    const socket = connect(Number(port), hostname)
    // Half of the request has been sent, so the connection is not idle.
    socket.write(`${line} HTTP/1.1\r\nhost: api\r\ncookie: ${ada.cookie}\r\n`)
    const [atServer] = (await once(api.app.server, 'connection')) as [Socket]
    await eventually(() => atServer.bytesRead > 0)
    const closed = api.close()
    socket.write(
      line.startsWith('POST')
        ? `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(sent)}\r\n\r\n${sent}`
        : '\r\n'
    )
    const began = performance.now()
    const [head, answered] = (await text(socket)).split('\r\n\r\n') as [string, string]
    // Its wait would last 22 seconds.
    expect(performance.now() - began).toBeLessThan(20_000)
    expect(head).toContain(`HTTP/1.1 ${status} `)
    expect(head.toLowerCase()).toContain('connection: close')
    expect(/x-error-code: (\w+)/i.exec(head)?.[1]).toBe(what === 'a refusal' ? 'not_found' : undefined)
    expect(JSON.parse(answered)).toMatchObject(body)
    await closed
  }
)
