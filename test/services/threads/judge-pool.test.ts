// Verifications in threads: the same verdicts as in the caller's thread, with limits for threads, time and queue.
import { readdirSync, readFileSync } from 'node:fs'
import { afterEach, expect, test } from '@jest/globals'
import { defaultMargin } from '../../../domain/verification/margin.js'
import { randomOf } from '../../../domain/verification/statistics/random.js'
import { type JudgePool, startJudgePool } from '../../../services/threads/judge-pool.js'
import { PoolBusy } from '../../../services/threads/thread-pool.js'
import { type JudgeInput, verify } from '../../../services/threads/verify.js'
import { resultOf, sampler, shifted } from '../../support/capsules/verification-runs.js'

const facts = { hardware: false, local: true, completedAt: null }
const bell = { '00': 5000, '11': 5000 }
const inputOf = (sealed: string, rerun: string, name = 'main'): JudgeInput => ({
  tasks: [{ name, sealed: { text: sealed, facts }, rerun: { text: rerun, facts } }],
  margin: 0.05
})
const plain = inputOf(resultOf(bell), resultOf({ '00': 5060, '11': 4940 }))
/** Takes long enough to be observed while it runs. */
const heavy = (circuits: number): JudgeInput => {
  const next = sampler(shifted(2000, 0), randomOf('heavy'))
  const [sealed, rerun] = [resultOf(next(20_000)), resultOf(next(20_000))].map((text) => ({ text, facts }))
  const tasks = Array.from({ length: circuits }, (_, k) => ({ name: `task ${k}`, sealed: sealed!, rerun: rerun! }))
  return { tasks, margin: 0.05 }
}

let pool: JudgePool | undefined
afterEach(() => pool?.close())

test('a verdict from a thread equals the verdict of a direct call', async () => {
  pool = startJudgePool()
  const [one, other] = await Promise.all([pool.judgeInThread('a team', plain), pool.judgeInThread('a team', plain)])
  expect(one).toEqual(verify(plain))
  expect(other).toEqual(one)
  expect(one.verdict).toBe('consistent')
})

test('without a declared margin, a thread uses the default margin of a seal', async () => {
  pool = startJudgePool({ threads: 1 })
  const few = resultOf({ '00': 50, '11': 50 })
  const found = await pool.judgeInThread('a team', { ...inputOf(few, few), margin: null })
  expect(found.margin).toBe(defaultMargin([{ text: few, hardware: false }]))
  expect(found.margin).toBeGreaterThan(0.1)
})

test('while a thread computes, the event loops of the machine come first', async () => {
  pool = startJudgePool({ threads: 1 })
  const niceness = () =>
    readdirSync('/proc/self/task').map((id) => {
      const stat = readFileSync(`/proc/self/task/${id}/stat`, 'utf8')
      return Number(stat.slice(stat.lastIndexOf(')')).split(' ')[17])
    })
  expect(Math.max(...niceness())).toBe(0)
  await pool.judgeInThread('a team', plain)
  expect(Math.max(...niceness())).toBe(5)
})

test('an unreadable result fails only its own verification', async () => {
  pool = startJudgePool({ threads: 1 })
  await expect(pool.judgeInThread('a team', inputOf('[]', '{}'))).rejects.toThrow('a result is a JSON object')
  await expect(pool.judgeInThread('a team', inputOf('{', '{}'))).rejects.toThrow()
  expect((await pool.judgeInThread('a team', plain)).verdict).toBe('consistent')
})

test('the event loop continues during a verification', async () => {
  pool = startJudgePool()
  await pool.judgeInThread('a team', plain)
  let turns = 0
  const timer = setInterval(() => turns++, 5)
  await pool.judgeInThread('a team', heavy(10))
  clearInterval(timer)
  expect(turns).toBeGreaterThan(5)
})

test('a verification beyond the time limit is not testable, with that reason, and the next one gets a thread', async () => {
  // Long enough for the plain one in a thread that comes after everything else of a busy machine.
  pool = startJudgePool({ threads: 1, limitMs: 3_000 })
  const ended = await pool.judgeInThread('a team', heavy(2_000))
  expect(ended).toMatchObject({ verdict: 'not_testable', method: 'none', margin: 0.05 })
  expect(ended.reason).toContain('took longer than 3 s')
  expect(ended.checks).toHaveLength(2_000)
  expect((await pool.judgeInThread('a team', plain)).verdict).toBe('consistent')
}, 60_000)

test('verifications beyond the queue limit are refused, and the others are judged in turn', async () => {
  pool = startJudgePool({ threads: 1, waitingMax: 2 })
  const first = pool.judgeInThread('a team', heavy(2))
  const waiting = [pool.judgeInThread('a team', plain), pool.judgeInThread('a team', plain)]
  await expect(pool.judgeInThread('a team', plain)).rejects.toBeInstanceOf(PoolBusy)
  expect((await first).checks).toHaveLength(2)
  for (const one of waiting) expect((await one).verdict).toBe('consistent')
})

test("teams take turns, and another team's work waits for no more than what runs", async () => {
  pool = startJudgePool({ threads: 1, waitingMax: 3 })
  const ended: string[] = []
  const judge = (team: string) => pool!.judgeInThread(team, plain).then(() => void ended.push(team))
  const all = [judge('a'), judge('a'), judge('a'), judge('b'), judge('b')]
  await Promise.all(all)
  expect(ended.join('')).toBe('ababa')
})

test('closing rejects verifications under way and waiting ones', async () => {
  pool = startJudgePool({ threads: 1 })
  const running = [pool.judgeInThread('a team', heavy(50)), pool.judgeInThread('a team', plain)]
  const ends = Promise.allSettled(running)
  await pool.close()
  expect((await ends).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  await expect(pool.judgeInThread('a team', plain)).rejects.toThrow('judging has stopped')
})
