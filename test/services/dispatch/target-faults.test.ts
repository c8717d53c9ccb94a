// How a failed call to a dispatch target is sorted: jobs fail of a long outage, and wait for a target that refuses or is busy.
import { describe, expect, test } from '@jest/globals'
import { createTargetFaults, type DispatchTarget } from '../../../services/dispatch/target-faults.js'

function faults() {
  let time = 0
  const logged: string[] = []
  const keep = (level: string) => (facts: object) => logged.push(`${level} ${(facts as { reason: string }).reason}`)
  return {
    ...createTargetFaults({ warn: keep('warn'), error: keep('error') }, () => time),
    logged,
    later(seconds: number) {
      time += seconds * 1_000
    }
  }
}

const grpc = (code: number) => new Error('the call failed', { cause: Object.assign(new Error('x'), { code }) })
const reply = (text: string) => Object.assign(new Error(text), { name: 'ReplyError' })

describe('a failed call', () => {
  test.each<[string, DispatchTarget, unknown]>([
    ...[3, 5, 7, 9, 12, 16].map((code): [string, DispatchTarget, unknown] => [
      `status ${code}`,
      'Temporal',
      grpc(code)
    ]),
    ['NOPERM', 'Redis', reply('NOPERM no permission')],
    ['WRONGTYPE', 'Redis', reply('WRONGTYPE another kind of value')]
  ])('is a refusal when the target has judged it: %s', (_name, target, error) => {
    expect(faults().record(target, error)).toBe('refused')
  })

  test('that exceeds a limit of calls shows a busy target', () => {
    expect(faults().record('Temporal', grpc(8))).toBe('busy')
  })

  test.each<[string, DispatchTarget, unknown]>([
    ...[4, 13, 14].map((code): [string, DispatchTarget, unknown] => [`status ${code}`, 'Temporal', grpc(code)]),
    ['a lost connection', 'Redis', Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })],
    ['no response', 'Temporal', new Error('no answer within 2000 ms')],
    ...['LOADING', 'MASTERDOWN', 'CLUSTERDOWN'].map((word): [string, DispatchTarget, unknown] => [
      word,
      'Redis',
      reply(`${word} now`)
    ])
  ])('belongs to an outage when the target is not there or not ready: %s', (_name, target, error) => {
    expect(faults().record(target, error)).toBe('unreachable')
  })
})

test('a fault that lasts is logged once an hour, and another fault at once', () => {
  const { record, logged, later } = faults()
  for (let second = 0; second < 3_600; second += 15) {
    record('Temporal', grpc(7))
    later(15)
  }
  expect(logged).toEqual(['error PERMISSION_DENIED: x'])
  record('Temporal', grpc(7))
  record('Temporal', grpc(8))
  expect(logged.slice(1)).toEqual(['error PERMISSION_DENIED: x', 'warn RESOURCE_EXHAUSTED: x'])
})

test('a refusal without a repetition for two minutes is over, and belongs to its own target', () => {
  const { record, refusals, later } = faults()
  record('Temporal', grpc(3))
  later(100)
  expect([refusals('Temporal'), refusals('Redis')]).toEqual([['Temporal refuses jobs: INVALID_ARGUMENT: x'], []])
  later(20)
  expect(refusals('Temporal')).toEqual([])
})
