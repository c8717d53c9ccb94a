// Comparisons of jobs in threads: the same as in the caller's thread, with limits for time, memory and waiting.
import { afterEach, expect, test } from '@jest/globals'
import { codeOf } from '../../../domain/errors.js'
import { randomOf } from '../../../domain/verification/statistics/random.js'
import { type CompareInput, compareJobs } from '../../../services/threads/compare-jobs.js'
import { type ComparePool, startComparePool } from '../../../services/threads/compare-pool.js'
import { resultOf, sampler, shifted } from '../../support/capsules/verification-runs.js'

const facts = { hardware: false, local: true, completedAt: null }
const jobOf = (id: string, text: string) => ({
  id,
  point: null,
  backend: 'local',
  result: { content: Buffer.from(text), facts }
})
const inputOf = (a: string, b: string): CompareInput => ({ a: jobOf('a', a), b: jobOf('b', b), margin: null })
const plain = inputOf(resultOf({ '00': 5000, '11': 5000 }), resultOf({ '00': 5060, '11': 4940 }))
/** A program's result with many circuits takes long enough to be observed. */
const heavy = (circuits: number): CompareInput => {
  const next = sampler(shifted(2000, 0), randomOf('heavy'))
  const result = JSON.stringify({
    result: Array.from({ length: circuits }, () => next(20_000)),
    metadata: { count_source: null }
  })
  return inputOf(result, result)
}

let pool: ComparePool | undefined
afterEach(() => pool?.close())

test('a comparison from a thread equals that of a direct call', async () => {
  pool = startComparePool()
  const compared = await pool.compareInThread('a team', plain)
  expect(compared).toEqual(compareJobs(plain))
  expect(compared.report.verdict).toBe('consistent')
})

test('the event loop continues during a comparison', async () => {
  pool = startComparePool()
  let turns = 0
  const timer = setInterval(() => turns++, 5)
  await pool.compareInThread('a team', heavy(10))
  clearInterval(timer)
  expect(turns).toBeGreaterThan(5)
})

test('a comparison beyond the time limit is not testable, with that reason, and the next one gets a thread', async () => {
  // Long enough for the plain one in a thread that comes after everything else of a busy machine.
  pool = startComparePool({ threads: 1, limitMs: 1_200, heapMib: 1_024 })
  const { report, circuits } = await pool.compareInThread('a team', heavy(400))
  expect(report).toMatchObject({ verdict: 'not_testable', method: 'none', margin: 0.05 })
  expect(report.reason).toContain('took longer than 1.2 s')
  expect(circuits).toHaveLength(1)
  expect((await pool.compareInThread('a team', plain)).report.verdict).toBe('consistent')
}, 60_000)

test('a comparison beyond the limit of memory is not testable, with that reason, and the next one gets a thread', async () => {
  pool = startComparePool({ threads: 1, heapMib: 24 })
  const { report } = await pool.compareInThread('a team', heavy(100))
  expect(report).toMatchObject({ verdict: 'not_testable', method: 'none' })
  expect(report.reason).toContain('needed more than 24 MiB of memory')
  expect((await pool.compareInThread('a team', plain)).report.verdict).toBe('consistent')
}, 60_000)

test('comparisons beyond the limit of waiting ones are refused as rate_limited, and the others are made', async () => {
  pool = startComparePool({ threads: 1, waitingMax: 1 })
  const made = [pool.compareInThread('a team', heavy(2)), pool.compareInThread('a team', plain)]
  const refused = await pool.compareInThread('a team', plain).catch((error: unknown) => error)
  expect([codeOf(refused), (refused as { fields: object }).fields]).toEqual(['rate_limited', { retryAfterSeconds: 20 }])
  for (const { report } of await Promise.all(made)) expect(report.alpha).toBe(0.01)
})

test('an unreadable result fails only its own comparison', async () => {
  pool = startComparePool({ threads: 1 })
  await expect(pool.compareInThread('a team', inputOf('[]', '{}'))).rejects.toThrow('a result is a JSON object')
  expect((await pool.compareInThread('a team', plain)).report.verdict).toBe('consistent')
})
