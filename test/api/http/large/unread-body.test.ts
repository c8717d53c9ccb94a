// The body of a request that is refused before its body is read.
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { afterAll, expect, test } from '@jest/globals'
import { startApi } from '../../../support/api/api.js'
import { eventually } from '../../../support/eventually.js'

const api = await startApi('unread_body')
afterAll(() => api.close())

const BODY_BYTES = 24 * 1024 * 1024

test('a large body of a refused request is read with pauses, and its connection serves the next request', async () => {
  const port = Number(new URL(await api.listen()).port)
  let request: IncomingMessage | undefined
  api.app.server.once('request', (first: IncomingMessage) => {
    request = first
  })
  const client = connect(port, '127.0.0.1')
  let received = ''
  client.setEncoding('utf8').on('data', (text) => {
    received += text
  })
  try {
    const type = 'content-type: application/octet-stream'
    client.write(
      `POST /api/capsules/import HTTP/1.1\r\nhost: x\r\n${type}\r\ncontent-length: ${BODY_BYTES}\r\n\r\n${'x'.repeat(BODY_BYTES)}`
    )
    await eventually(() => expect(received).toContain('HTTP/1.1 401'))
    await eventually(() => expect(request!.isPaused()).toBe(true), { everyMs: 1 })
    client.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n')
    await eventually(() => expect(received).toContain('HTTP/1.1 200'))
    expect(client.bytesWritten).toBeGreaterThan(BODY_BYTES)
  } finally {
    client.destroy()
  }
})
