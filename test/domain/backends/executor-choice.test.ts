import { describe, expect, test } from '@jest/globals'
import { readExecutorAddresses } from '../../../domain/backends/executor-addresses.js'
import { type Candidate, chooseExecutor } from '../../../domain/backends/executor-choice.js'
import { mergedHealth, problemOf, stateOf } from '../../../domain/backends/executor-health.js'
import { wellHealth } from '../../support/jobs/gate-to.js'

const executor = (instanceId: string, own: Partial<Candidate> = {}): Candidate => ({
  state: 'ready',
  instanceId,
  engines: new Set(['statevector']),
  slots: 2,
  inUse: 0,
  ofOthers: 0,
  turn: 0,
  ...own
})
const chosen = (...args: Parameters<typeof chooseExecutor<Candidate>>) => {
  const one = chooseExecutor(...args)
  return typeof one === 'string' ? one : one.instanceId
}

describe('a call goes', () => {
  test('to the executor that has the least to do for its slots, whoever gave it that', () => {
    expect(chosen([executor('a', { inUse: 1 }), executor('b')], {})).toBe('b')
    expect(chosen([executor('a', { ofOthers: 2 }), executor('b', { inUse: 1 })], {})).toBe('b')
    expect(chosen([executor('a', { inUse: 1 }), executor('b', { inUse: 2, slots: 8 })], {})).toBe('b')
    // Of two alike, to the one that has waited longer for a call.
    expect(chosen([executor('a', { turn: 2 }), executor('b', { turn: 1 })], {})).toBe('b')
  })

  test.each(['away', 'draining', 'unfit', 'foreign', 'twin'] as const)('to none that is %s', (state) => {
    expect(chosen([executor('a', { state }), executor('b', { inUse: 1 })], {})).toBe('b')
    expect(chosen([executor('a', { state })], {})).toBe('none')
  })

  test('to one with its engine; without one it is not kept waiting', () => {
    const all = [executor('cpu'), executor('gpu', { engines: new Set(['gpu_statevector']), slots: 1 })]
    expect(chosen(all, { engine: 'gpu_statevector' })).toBe('gpu')
    expect(chosen(all, { engine: 'mps' })).toBe('none')
    expect(chosen([all[0]!, { ...all[1]!, inUse: 1 }], { engine: 'gpu_statevector' })).toBe('full')
    expect(chosen([all[0]!, { ...all[1]!, inUse: 1 }], { engine: 'gpu_statevector' }, true)).toBe('gpu')
  })

  test('nowhere before an executor has reported', () => {
    expect(chosen([executor('a', { state: 'unknown', slots: 0 })], {})).toBe('full')
    expect(chosen([], {})).toBe('none')
  })

  test('to the executor that holds its execution, even without a free place, and to another once that one is gone', () => {
    const all = [executor('a'), executor('b', { inUse: 2 })]
    expect(chosen(all, { holder: 'b' })).toBe('b')
    expect(chosen([all[0]!, { ...all[1]!, state: 'draining' }], { holder: 'b' })).toBe('a')
    expect(chosen(all, { holder: 'gone' })).toBe('a')
    expect(chosen(all, { holder: null })).toBe('a')
  })
})

test('calls of one key go to one executor while it has a place, and those of many keys to all alike', () => {
  const all = ['a', 'b', 'c', 'd'].map((name) => executor(name))
  const counts = new Map<string, number>()
  for (let job = 0; job < 4_000; job++) {
    const near = `job ${job}`
    const first = chosen(all, { near })!
    counts.set(first, (counts.get(first) ?? 0) + 1)
    // Whatever the others have to do, and whichever of them are gone.
    const rest = all.map((one) => (one.instanceId === first ? { ...one, inUse: 1 } : one))
    expect(chosen(rest, { near })).toBe(first)
    expect(
      chosen(
        rest.filter(({ instanceId }) => instanceId === first || instanceId === 'a'),
        { near }
      )
    ).toBe(first)
    expect(
      chosen(
        all.map((one) => (one.instanceId === first ? { ...one, inUse: 2 } : one)),
        { near }
      )
    ).not.toBe(first)
  }
  for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(200)
  expect(counts.size).toBe(4)
})

describe('EXECUTOR_URL', () => {
  test('is addresses, and names that stand for all of theirs', () => {
    expect(readExecutorAddresses('http://one:8800')).toEqual({ fixed: ['http://one:8800'], names: [] })
    expect(
      readExecutorAddresses('http://one:8800/, https://two/pool ,http://one:8800,dns+http://executors.internal:8800')
    ).toEqual({
      fixed: ['http://one:8800', 'https://two/pool'],
      names: [{ host: 'executors.internal', port: 8800 }]
    })
  })

  test.each([
    ['', "got ''"],
    ['http://one:8800,', "got ''"],
    ['executor:8800', "got 'executor:8800'"],
    ['ftp://one', "got 'ftp://one'"],
    ['http://user:secret@one', 'EXECUTOR_URL: must be addresses'],
    ['dns+https://one', "got 'dns+https://one'"],
    ['dns+http://one/path', "EXECUTOR_URL: a name of DNS has no path (got 'dns+http://one/path')"]
  ])('%j is refused by name', (text, message) => {
    expect(() => readExecutorAddresses(text)).toThrow(message)
  })
})

describe('a report', () => {
  test('of another protocol, or of none, takes its executor out, with the reason', () => {
    expect([stateOf(wellHealth('a', 1)), problemOf(wellHealth('a', 1))]).toEqual(['ready', null])
    for (const protocol of [2, 0, undefined]) {
      const health = wellHealth('a', 1, { protocol })
      expect([stateOf(health), problemOf(health)]).toEqual(['foreign', expect.stringContaining('it speaks protocol')])
    }
  })

  test('of several executors is the sum of their slots and engines, with the weakest isolation', () => {
    const weak = { level: 'none', problem: '', warning: 'not isolated' }
    const merged = mergedHealth([
      wellHealth('a', 2, { slots: { total: 2, running: 1 }, engines: [{ name: 'mps', version: '1' }] }),
      wellHealth('b', 3, {
        sandbox: weak,
        engines: [
          { name: 'mps', version: '1' },
          { name: 'noisy', version: '1' }
        ]
      })
    ])
    expect(merged).toMatchObject({ sandbox: weak, slots: { total: 5, running: 1 } })
    expect(merged.engines.map(({ name }) => name)).toEqual(['mps', 'noisy'])
  })
})
