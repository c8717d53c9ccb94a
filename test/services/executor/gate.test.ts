import { setMaxListeners } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from '@jest/globals'
import type { Seat } from '../../../services/executor/gate.js'
import { ComeBackLater, whenExecutorCan } from '../../../services/executor/wait.js'
import { gateToNobody } from '../../support/jobs/gate-to.js'

const log = { warn() {}, error() {} }
const { signal } = new AbortController()
setMaxListeners(0, signal)

/** Calls to the gate that run until they are ended by name. */
function callers(permits: number) {
  const gate = gateToNobody(permits)
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  return {
    gate,
    begun,
    call: (job: string) =>
      gate.enter({ team: job[0]!, job }, signal).then((seat) => {
        begun.push(job)
        ends.set(job, (seat as Seat).leave)
      }),
    async end(name: string) {
      ends.get(name)!()
      await turn()
    }
  }
}

it("another team's first job waits for at most one job per slot", async () => {
  const { begun, call, end } = callers(2)
  for (let job = 1; job <= 100; job++) call(`a${job}`)
  call('b1')
  await turn()
  expect(begun).toEqual(['a1', 'a2'])
  // Both slots become free at once.
  await Promise.all([end('a1'), end('a2')])
  expect(begun.slice(2).sort()).toEqual(['a3', 'b1'])
})

it('a team with a limit leaves the other slots to other teams, and uses more once the limit is lifted', async () => {
  const { gate, begun, call, end } = callers(3)
  gate.setTeamLimits(new Map([['a', 1]]))
  for (let job = 1; job <= 3; job++) call(`a${job}`)
  call('b1')
  await turn()
  expect(begun).toEqual(['a1', 'b1'])
  await end('a1')
  expect(begun).toEqual(['a1', 'b1', 'a2'])
  gate.setTeamLimits(new Map())
  await turn()
  expect(begun).toEqual(['a1', 'b1', 'a2', 'a3'])
})

it('a cancelled call gives up its place', async () => {
  const { gate, begun, call, end } = callers(1)
  await call('a1')
  const cancelled = new AbortController()
  const waiting = gate.enter({ team: 'b', job: '1' }, cancelled.signal)
  call('c1')
  cancelled.abort('cancelled')
  await expect(waiting).rejects.toBe('cancelled')
  expect(gate.waiting).toBe(1)
  await end('a1')
  expect(begun).toEqual(['a1', 'c1'])
})

it('a permit that is released twice is free once', async () => {
  const { gate, begun, call, end } = callers(1)
  await call('a1')
  await end('a1')
  await end('a1')
  for (const job of ['b1', 'c1']) call(job)
  await turn()
  expect([begun, gate.inUse, gate.waiting]).toEqual([['a1', 'b1'], 1, 1])
})

it('a call keeps its turn while other workers use the slots', async () => {
  const gate = gateToNobody(1)
  const responses = ['busy', 'busy', 'completed']
  const begun: string[] = []
  const first = whenExecutorCan<{ kind: 'completed' }>({ gate, log }, { team: 'a', job: '1' }, signal, async () => {
    begun.push('a1')
    return { kind: responses.shift() } as { kind: 'completed' }
  })
  const second = whenExecutorCan<{ kind: 'completed' }>({ gate, log }, { team: 'a', job: '2' }, signal, async () => {
    begun.push('a2')
    return { kind: 'completed' }
  })
  await Promise.all([first, second])
  expect(begun).toEqual(['a1', 'a1', 'a1', 'a2'])
})

it('an activity gives its slot back instead of joining a long line, and another team still finds a place', async () => {
  const { gate, call } = callers(1)
  const comeBack = (team: string) =>
    whenExecutorCan({ gate, log, yieldsSlot: true }, { team, job: 'x' }, signal, async () => ({ kind: 'completed' }))
  for (let job = 0; job < 100; job++) call(`a${job}`)
  await expect(comeBack('a')).rejects.toMatchObject({ awayMs: null })
  const other = comeBack('b')
  expect(gate.waiting).toBe(100)
  const waiting = await Promise.race([other.then(() => 'begun'), turn('waiting')])
  expect(waiting).toBe('waiting')
})

it('an activity gives its slot back while the execution service is away, and learns for how long', async () => {
  const gate = gateToNobody(1)
  const away = whenExecutorCan({ gate, log, yieldsSlot: true }, { team: 'a', job: '1' }, signal, async () => ({
    kind: 'away',
    message: 'connection refused'
  }))
  const error = await away.catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(ComeBackLater)
  expect((error as ComeBackLater).awayMs).toBeGreaterThanOrEqual(0)
  expect(gate.inUse).toBe(0)
})

it('gives a team with long work no second slot once another team has been active', async () => {
  const gate = gateToNobody(2)
  const { signal } = new AbortController()
  const enter = async (team: string, job: string) => ((await gate.enter({ team, job }, signal)) as Seat).leave
  const alone = [await enter('long', 'one'), await enter('long', 'two')]
  const first = enter('other', 'first')
  void enter('long', 'three')
  alone[0]!()
  ;(await first)()
  expect([gate.inUse, gate.waiting]).toEqual([1, 1])
  ;(await enter('other', 'second'))()
  expect([gate.inUse, gate.waiting]).toEqual([1, 1])
  alone[1]!()
  expect([gate.inUse, gate.waiting]).toEqual([1, 0])
})
