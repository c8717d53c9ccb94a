import { describe, expect, it } from '@jest/globals'
import { createTurnLine, createTurns, type Owner } from '../../../domain/teams/turns.js'

describe('turns', () => {
  it('go to the one that uses least, then to the one served longest ago, then to the first', () => {
    const turns = createTurns()
    const next = (...inUse: number[]) => turns.next(inUse.map((use, at) => ({ key: 'abc'[at]!, inUse: use })))?.key
    expect(next()).toBeUndefined()
    expect(next(1, 0, 2)).toBe('b')
    expect(next(0, 0, 0)).toBe('a')
    turns.served('a')
    turns.served('c')
    expect(next(0, 0, 0)).toBe('b')
    turns.served('b')
    expect(next(0, 0, 0)).toBe('a')
    expect(next(1, 0, 0)).toBe('c')
  })

  it('of equals come round to each of them', () => {
    const turns = createTurns()
    const served = Array.from({ length: 9 }, () => {
      const { key } = turns.next(['a', 'b', 'c'].map((key) => ({ key, inUse: 0 })))!
      turns.served(key)
      return key
    })
    expect(served.join('')).toBe('abcabcabc')
  })

  it('are remembered for a bounded number of keys', () => {
    const turns = createTurns(2)
    for (const key of ['a', 'b', 'c']) turns.served(key)
    const next = (...keys: string[]) => turns.next(keys.map((key) => ({ key, inUse: 0 })))?.key
    // `a` is forgotten, and so is equal to one that was never served.
    expect([next('a', 'never'), next('b', 'never')]).toEqual(['a', 'never'])
  })
})

describe('a line of work', () => {
  /** Lets work through a resource of some slots, one at a time, and returns whose work it was. */
  function order(slots: number, arrivals: Owner[], later: Record<number, Owner[]> = {}): string[] {
    const line = createTurnLine<number>()
    const running: Owner[] = []
    const begun: string[] = []
    for (const owner of arrivals) line.join(owner, 0)
    while (line.waiting > 0 || running.length > 0) {
      for (const owner of later[begun.length] ?? []) line.join(owner, 0)
      delete later[begun.length]
      while (line.inUse < slots && line.waiting > 0) {
        const { owner } = line.next()!
        running.push(owner)
        begun.push(owner.job)
        for (const arrived of later[begun.length] ?? []) line.join(arrived, 0)
        delete later[begun.length]
      }
      line.leave(running.shift()!)
    }
    return begun
  }
  const work = (team: string, jobs: number, each = 1): Owner[] =>
    Array.from({ length: jobs * each }, (_, at) => ({ team, job: `${team}${Math.floor(at / each) + 1}` }))

  it("lets another team's first job wait for at most one job per slot", () => {
    for (const slots of [1, 2, 5]) {
      const begun = order(slots, work('a', 1_000), { [slots]: work('b', 1) })
      expect(begun.indexOf('b1')).toBe(slots)
    }
  })

  it('shares the slots equally between two teams with a backlog', () => {
    const begun = order(2, [...work('a', 50), ...work('b', 50)])
    for (let at = 2; at <= 100; at += 2)
      expect(begun.slice(0, at).filter((name) => name.startsWith('b'))).toHaveLength(at / 2)
  })

  it('gives a job of one task its turn before the second task of a large job of its team', () => {
    const begun = order(1, [...work('a', 1, 200), { team: 'a', job: 'a2' }])
    expect(begun.indexOf('a2')).toBe(1)
  })

  it('gives a job that runs nothing its turn before one of its team that still runs', () => {
    const line = createTurnLine<number>()
    for (const owner of [...work('a', 1, 2), { team: 'a', job: 'a2' }, { team: 'a', job: 'a2' }]) line.join(owner, 0)
    const begun = [line.next()!.owner.job, line.next()!.owner.job]
    line.leave({ team: 'a', job: 'a2' })
    expect([...begun, line.next()!.owner.job]).toEqual(['a1', 'a2', 'a2'])
  })

  it('keeps the order of arrival for the work of one team', () => {
    expect(order(2, work('a', 5))).toEqual(['a1', 'a2', 'a3', 'a4', 'a5'])
  })

  it('gives a team no more than its maximum, and the rest to others', () => {
    const line = createTurnLine<number>()
    for (const owner of [...work('a', 3), ...work('b', 2)]) line.join(owner, 0)
    const maxOf = (team: string) => (team === 'a' ? 1 : 9)
    const begun = Array.from({ length: 4 }, () => line.next(maxOf)?.owner.team)
    expect(begun).toEqual(['a', 'b', 'b', undefined])
    line.leave({ team: 'a', job: 'a1' })
    expect(line.next(maxOf)?.owner).toEqual({ team: 'a', job: 'a2' })
    expect([line.waiting, line.inUse]).toEqual([1, 3])
  })

  it('lets work that fits go before work of its team and job that does not', () => {
    const line = createTurnLine<string>()
    const fits = (work: string) => work === 'cpu'
    for (const work of ['gpu', 'cpu']) line.join({ team: 'a', job: '1' }, work)
    for (const work of ['gpu', 'gpu', 'cpu']) line.join({ team: 'b', job: work }, work)
    const begun = [line.next(undefined, fits), line.next(undefined, fits), line.next(undefined, fits)]
    expect(begun.map((next) => next && [next.owner.team, next.work])).toEqual([['a', 'cpu'], ['b', 'cpu'], null])
    expect([line.waiting, line.next()!.work]).toEqual([3, 'gpu'])
  })

  it('has room for every kind of work of a team, however much of another it sends', () => {
    const line = createTurnLine<string>()
    const fill = (work: string) => {
      let joined = 0
      for (; line.hasRoom('a', 160, (other) => other === work); joined++) line.join({ team: 'a', job: 'j' }, work)
      return joined
    }
    expect([fill('gpu'), fill('cpu'), fill('mps')]).toEqual([80, 40, 20])
  })

  it('forgets work that is removed before its turn', () => {
    const line = createTurnLine<string>()
    line.join({ team: 'a', job: '1' }, 'one')
    line.join({ team: 'a', job: '1' }, 'two')
    line.remove({ team: 'a', job: '1' }, 'one')
    line.remove({ team: 'b', job: '1' }, 'one')
    expect([line.waiting, line.next()?.work, line.next()]).toEqual([1, 'two', null])
  })

  it('has room for every team, however much another one sends', () => {
    const line = createTurnLine<number>()
    const fill = (team: string) => {
      let joined = 0
      for (; line.hasRoom(team, 160); joined++) line.join({ team, job: String(joined) }, 0)
      return joined
    }
    expect([fill('a'), fill('b'), fill('c')]).toEqual([80, 40, 20])
    expect(fill('d')).toBeGreaterThan(0)
  })
})
