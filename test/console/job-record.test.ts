import { expect, test } from '@jest/globals'
import {
  HEAD_BYTES,
  laidOut,
  readJobRecord,
  readResult,
  SHOWN_BYTES
} from '../../apps/console/jobs/record/job-record.js'

test('parameters stay the text that was sent, every digit of it', () => {
  const params = '{"result":1,"deep":{"result":"x\\"result\\":"},"big":12345678901234567890}'
  const text = `{"id":"a","name":"result","status":"completed","params":${params},"result_bytes":7,"result":null}`
  const read = readJobRecord(text)
  expect(read.record).toEqual({ id: 'a', name: 'result', status: 'completed', result_bytes: 7 })
  expect(read.params).toBe(params)
})

test('a result stays the text that is stored, and is laid out with every digit', async () => {
  const text = '{"x":0.1234567890123456789012345,"y":1e-400}'
  expect(await readResult(new Response(text), text.length)).toEqual({ text, whole: true })
  expect(laidOut(text)).toBe('{\n  "x": 0.1234567890123456789012345,\n  "y": 1e-400\n}')
})

test('of a large result only the beginning is received', async () => {
  let sent = 0
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent += 1024 ** 2
      controller.enqueue(new Uint8Array(1024 ** 2).fill(0x78))
    }
  })
  const { text, whole } = await readResult(new Response(body), SHOWN_BYTES + 1)
  expect(whole).toBe(false)
  expect(text.length).toBe(HEAD_BYTES)
  expect(sent).toBeLessThan(4 * 1024 ** 2)
})

test('a character that the end of the beginning cuts in two is left out', async () => {
  const body = `${'x'.repeat(HEAD_BYTES - 1)}\u00e9${'x'.repeat(SHOWN_BYTES)}`
  const { text } = await readResult(new Response(body), SHOWN_BYTES + HEAD_BYTES)
  expect(text).toBe('x'.repeat(HEAD_BYTES - 1))
})

test('text that is not JSON is shown unchanged', () => {
  expect(laidOut('{"cut')).toBe('{"cut')
})
