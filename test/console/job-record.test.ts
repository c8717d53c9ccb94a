import { expect, test } from '@jest/globals'
import { laidOut, RECORD_HEAD_BYTES, readHead, readJobRecord, SHOWN_BYTES } from '../../apps/console/jobs/job-record.js'

const recordText = (params: string, result: string) =>
  `{"id":"a","name":"result","status":"completed","params":${params},"result":${result}}`

test('parameters and result stay the text that was sent, every digit of it', () => {
  const params = '{"result":1,"deep":{"result":"x\\"result\\":"},"big":12345678901234567890}'
  const result = '{"x":0.1234567890123456789012345,"y":1e-400}'
  const read = readJobRecord(recordText(params, result), 'whole')
  expect(read.record).toMatchObject({ id: 'a', name: 'result', status: 'completed' })
  expect(read.params).toBe(params)
  expect(read.result).toEqual({ text: result, whole: true })
  expect(laidOut(result)).toBe('{\n  "x": 0.1234567890123456789012345,\n  "y": 1e-400\n}')
})

test('a job without a result has none', () => {
  expect(readJobRecord(recordText('{}', 'null'), 'whole').result).toBeNull()
})

test('a large result is its beginning, whether it was received to its end or not', () => {
  const text = recordText('{}', `{"counts":{"00":${'1'.repeat(SHOWN_BYTES + 1)}}}`)
  for (const [part, received] of [
    [text, 'whole'],
    [text.slice(0, SHOWN_BYTES), 'head']
  ] as const) {
    const { record, result } = readJobRecord(part, received)
    expect(record.status).toBe('completed')
    expect(result!.whole).toBe(false)
    expect(result!.text).toMatch(/^\{"counts":\{"00":1+$/)
    expect(result!.text.length).toBeLessThan(SHOWN_BYTES)
  }
})

test('a record whose parameters were cut off is refused rather than shown in part', () => {
  expect(() => readJobRecord('{"id":"a","params":{"text":"never closed', 'head')).toThrow('could not be read')
})

test('reading stops soon after the head of a body', async () => {
  let sent = 0
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent += 1024 ** 2
      controller.enqueue(new Uint8Array(1024 ** 2).fill(0x78))
    }
  })
  const { text, received } = await readHead(new Response(body))
  expect(received).toBe('head')
  expect(text.length).toBe(RECORD_HEAD_BYTES)
  expect(sent).toBeLessThan(2 * RECORD_HEAD_BYTES)
})

test('text that is not JSON is shown as it is', () => {
  expect(laidOut('{"cut')).toBe('{"cut')
})
