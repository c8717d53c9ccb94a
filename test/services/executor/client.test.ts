// The client of the execution service at the limits of the protocol.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { OUTPUT_BYTES_MAX } from '../../../domain/jobs/value-limits.js'
import { JsonText } from '../../../domain/json/json-text.js'
import { createExecutorClient, type ExecutorClient } from '../../../services/executor/client.js'
import type { RunRequest } from '../../../services/executor/requests.js'
import { ARTIFACT_BYTES_MAX, type PrintedPiece } from '../../../services/executor/stream.js'
import { bellQasm3 } from '../../support/jobs/builders.js'
import {
  completed,
  type Fault,
  hang,
  refuse,
  startFaultyExecutor,
  stream
} from '../../support/stack/faulty-executor.js'

const executor = await startFaultyExecutor(hang)
let client: ExecutorClient
beforeAll(() => {
  client = createExecutorClient(executor.url, 'a-token')
})
afterAll(async () => {
  await client.close()
  await executor.close()
})

const request: RunRequest = {
  run_id: 'run-1',
  source: { kind: 'code', framework: 'openqasm', code: bellQasm3() },
  backend: 'local',
  engine: 'statevector',
  max_qubits: 25,
  params: { shots: 1 },
  limits: { wall_seconds: 5 }
}
const run = () => client.run(request, new AbortController().signal, async () => true)
const piece = (name: unknown, content: Buffer, last: boolean, mediaType: unknown = 'text/plain') => ({
  artifact: { name, media_type: mediaType, chunk: content.toString('base64'), last }
})

test('a connection serves one execution after another', async () => {
  const ports = new Set<number | undefined>()
  executor.from((response, message) => {
    ports.add(message.socket.remotePort)
    stream([completed('{}')])(response, message)
  })
  const one = createExecutorClient(executor.url, 'a-token')
  try {
    for (let count = 0; count < 8; count++)
      expect(await one.run(request, new AbortController().signal, async () => true)).toMatchObject({
        kind: 'completed'
      })
  } finally {
    await one.close()
  }
  // The next run can begin before the pool has its connection back, and one without work for some seconds is closed.
  expect(ports.size).toBeLessThanOrEqual(4)
})

test('an outcome counts even if the connection dies right after it', async () => {
  executor.from(stream([completed('{}')], 'die'))
  expect(await run()).toMatchObject({ kind: 'completed', result: '{}' })
})

describe('the files of an execution', () => {
  test('are assembled from their pieces byte for byte, in the order of arrival', async () => {
    const bytes = Buffer.from(Array.from({ length: 1000 }, (_, index) => index % 256))
    executor.from(
      stream([
        piece('state_vector.npy', bytes.subarray(0, 333), false, 'application/octet-stream'),
        { beat: {} },
        piece('state_vector.npy', bytes.subarray(333), true, 'application/octet-stream'),
        piece('circuit.qasm', Buffer.from('OPENQASM 3.0;'), true, 'text/plain; charset=utf-8'),
        piece('empty.txt', Buffer.alloc(0), true),
        completed('{"n":123456789012345678901234567890}')
      ])
    )
    expect(await run()).toEqual({
      kind: 'completed',
      result: '{"n":123456789012345678901234567890}',
      framework: 'openqasm',
      deviceShots: null,
      display: null,
      displayProblem: null,
      stdout: '',
      artifacts: [
        { name: 'state_vector.npy', mediaType: 'application/octet-stream', content: bytes },
        { name: 'circuit.qasm', mediaType: 'text/plain; charset=utf-8', content: Buffer.from('OPENQASM 3.0;') },
        { name: 'empty.txt', mediaType: 'text/plain', content: Buffer.alloc(0) }
      ]
    })
  })

  test('fail the execution with that reason if they are larger than 32 MiB together', async () => {
    const half = Buffer.alloc(ARTIFACT_BYTES_MAX / 2)
    const lines = [piece('a', half, true), piece('b', half, true), completed('{}')]
    executor.from(stream(lines))
    expect(await run()).toMatchObject({ kind: 'completed' })
    executor.from(stream([...lines.slice(0, 2), piece('c', Buffer.from('x'), true), completed('{}')]))
    const message = 'the files of this run are larger than 32 MiB together'
    expect(await run()).toEqual({ kind: 'failed', error: { code: 'execution_error', message } })
  })

  const x = Buffer.from('x')
  test.each<[string, object[]]>([
    ['a path for a name', [piece('../x', x, true)]],
    ['a quote in a name', [piece('x"y', x, true)]],
    ['a name that is not text', [piece(1, x, true)]],
    ['a line break in a media type', [piece('x', x, true, 'text/plain\r\nx: y')]],
    ['a file without its end', [piece('x', x, false)]],
    ['two files at once', [piece('x', x, false), piece('y', x, true)]],
    ['one name twice', [piece('x', x, true), piece('x', x, true)]],
    ['too many files', Array.from({ length: 21 }, (_, index) => piece(`f${index}`, x, true))]
  ])('are not accepted with %s', async (_what, lines) => {
    executor.from(stream([...lines, completed('{}')]))
    expect(await run()).toMatchObject({ kind: 'lost', message: expect.stringContaining('file') })
  })
})

describe('what a program prints', () => {
  const output = (offset: unknown, text: unknown, truncated?: unknown) => ({
    output: { offset, text, ...(truncated !== undefined && { truncated_bytes: truncated }) }
  })
  const printed = async (lines: object[]) => {
    const pieces: PrintedPiece[] = []
    executor.from(stream([...lines, completed('{}')]))
    const signal = new AbortController().signal
    const end = await client.run(
      request,
      signal,
      async () => true,
      (piece) => pieces.push(piece)
    )
    expect(end).toMatchObject({ kind: 'completed', result: '{}' })
    return pieces
  }

  test('is passed on in its pieces', async () => {
    expect(await printed([output(0, 'one'), { beat: {} }, output(3, '€', 17)])).toEqual([
      { offset: 0, text: 'one', truncatedBytes: 0 },
      { offset: 3, text: '€', truncatedBytes: 17 }
    ])
  })

  test.each<[string, object]>([
    ['no place', output(undefined, 'x')],
    ['a negative place', output(-1, 'x')],
    ['no text', output(0, 1)],
    ['a count that is too large', output(0, 'x', 2 ** 31)],
    ['more text than is kept', output(OUTPUT_BYTES_MAX - 1, '€')],
    ['a NUL', output(0, 'x\0')]
  ])('is ignored with %s, and the execution counts', async (_what, line) => {
    expect(await printed([line])).toEqual([])
  })
})

describe('the long texts that follow an outcome', () => {
  /** The bytes arrive in pieces of this length. */
  const outcomeWith = (outcome: object, after: Buffer, then: 'end' | 'die' = 'end', length = 7): Fault => {
    const lines = [{ accepted: { framework: 'marqov' } }, { outcome: { status: 'completed', ...outcome } }]
    const text = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    return async (response) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' })
      const all = Buffer.concat([text, after])
      for (let at = 0; at < all.length; at += length)
        await new Promise((sent) => response.write(all.subarray(at, at + length), sent))
      if (then === 'end') response.end()
      else response.destroy()
    }
  }
  const result = '{"counts":{"0":1},"text":"line\\n€\n\u{1f600}"}'
  const bytes = Buffer.byteLength(result)

  test('become part of it byte for byte, wherever the stream is cut', async () => {
    executor.from((response, message) => {
      expect(message.headers['x-executor-texts']).toBe('apart')
      const after = Buffer.from(`${result}"shown €"`)
      outcomeWith({ result: { bytes }, display: { bytes: 11 } }, after)(response, message)
    })
    expect(await run()).toMatchObject({ kind: 'completed', framework: 'marqov', result, display: '"shown €"' })
    executor.from(outcomeWith({ result: { bytes }, display: { same_as: 'result' } }, Buffer.from(result), 'end', 1000))
    expect(await run()).toMatchObject({ kind: 'completed', result, display: result })
  })

  test('are those of single points, too', async () => {
    const points = [{ result: '1' }, { result: { bytes } }, { error: { message: 'no' } }, { result: { bytes: 1 } }]
    executor.from(outcomeWith({ points }, Buffer.from(`${result}4`)))
    const signal = new AbortController().signal
    expect(await client.runPoints({ ...request, points: new JsonText('[]') }, signal, async () => true)).toEqual({
      kind: 'points',
      points: [{ result: '1' }, { result }, { error: { code: 'execution_error', message: 'no' } }, { result: '4' }]
    })
  })

  test('count even if the connection dies right after them, and not before', async () => {
    executor.from(outcomeWith({ result: { bytes } }, Buffer.from(result), 'die'))
    expect(await run()).toMatchObject({ kind: 'completed', result })
    for (const then of ['die', 'end'] as const) {
      executor.from(outcomeWith({ result: { bytes } }, Buffer.from(result).subarray(1), then))
      expect(await run()).toMatchObject({ kind: 'lost' })
    }
  })

  test.each<[string, object]>([
    ['no number', { result: { bytes: '7' } }],
    ['a part of a byte', { result: { bytes: 1.5 } }],
    ['nothing', { result: { bytes: 0 } }],
    ['less than nothing', { result: { bytes: -1 } }],
    ['more than any result', { result: { bytes: 2 ** 40 } }],
    ['more than any result together', { result: { bytes: 30 << 20 }, display: { bytes: 30 << 20 } }]
  ])('lose the execution with a length that is %s', async (_what, outcome) => {
    executor.from(outcomeWith(outcome, Buffer.from(result)))
    expect(await run()).toMatchObject({ kind: 'lost', message: expect.stringContaining('invalid length') })
  })
})

describe('a refusal by the executor is classified:', () => {
  test.each([
    ['full', refuse(503, 'busy', 'full', { 'retry-after': '7' }), { kind: 'busy', retryAfterSeconds: 7 }],
    ['full without a time', refuse(503, 'busy', 'full'), { kind: 'busy', retryAfterSeconds: 1 }],
    ['too many', refuse(429, 'busy', 'yours'), { kind: 'busy', retryAfterSeconds: 1 }],
    ['not fit to run', refuse(503, 'unsafe', 'no sandbox'), { kind: 'away', message: 'no sandbox' }],
    [
      'without isolation',
      refuse(503, 'worker_not_configured', 'no sandbox'),
      { kind: 'away', message: 'no sandbox', why: 'unfit' }
    ],
    [
      'no child for it',
      refuse(503, 'execution_service_lost', 'no child'),
      { kind: 'away', message: 'no child', why: 'fault' }
    ],
    ['a fault of its own', refuse(500, 'internal', 'oops'), { kind: 'away', message: 'oops', why: 'fault' }],
    ['about to stop', refuse(503, 'draining', 'stops'), { kind: 'away', message: 'stops', why: 'draining' }],
    ['without the engine', refuse(409, 'engine_missing', 'gpu'), { kind: 'away', message: 'gpu', why: 'engine' }],
    ['of another protocol', refuse(409, 'protocol_mismatch', '7'), { kind: 'away', message: '7', why: 'protocol' }],
    ['a proxy without it', refuse(502, 'bad_gateway', 'oops'), { kind: 'away', message: 'oops' }],
    ['a wrong token', refuse(401, 'unauthorized', 'who?'), { kind: 'away', message: 'who?' }],
    ['a bad request', refuse(400, 'validation_error', 'shots'), { kind: 'refused', message: 'shots' }]
  ])('%s', async (_what, fault, end) => {
    executor.from(fault)
    expect(await run()).toEqual(end)
  })
})
