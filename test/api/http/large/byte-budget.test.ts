// The budget of memory: never exceeded, in turns of callers, and bounded in what waits.
import { expect, test } from '@jest/globals'
import { type BudgetLimits, createByteBudget } from '../../../../apps/api/http/byte-budget.js'

const budgetOf = (limits: Partial<BudgetLimits> = {}) =>
  createByteBudget({ bytes: 100, share: 50, waitingMax: 10, waitingOfCallerMax: 5, waitMs: 60_000, ...limits })

/** Takes bytes, and records its name once they are granted. */
function taker(budget: ReturnType<typeof budgetOf>) {
  const granted: string[] = []
  const releases = new Map<string, () => void>()
  const take = (name: string, bytes: number) => {
    const caller = name.slice(0, 1)
    budget.take(caller, bytes).then(
      (release) => {
        granted.push(name)
        releases.set(name, release)
      },
      () => granted.push(`${name} refused`)
    )
  }
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve))
  return { take, granted, settled, release: (name: string) => releases.get(name)!() }
}

test('the budget is never exceeded, and what is given back is granted to those who wait', async () => {
  const budget = budgetOf()
  const { take, granted, settled, release } = taker(budget)
  take('a1', 50)
  take('b1', 50)
  take('c1', 40)
  await settled()
  expect([granted, budget.used]).toEqual([['a1', 'b1'], 100])
  release('a1')
  release('a1')
  await settled()
  expect([granted, budget.used]).toEqual([['a1', 'b1', 'c1'], 90])
})

test('a caller at its share does not keep the rest of the budget from others', async () => {
  const budget = budgetOf()
  const { take, granted, settled } = taker(budget)
  for (const name of ['a1', 'a2', 'a3', 'a4']) take(name, 25)
  take('b1', 25)
  take('b2', 25)
  await settled()
  expect(granted).toEqual(['a1', 'a2', 'b1', 'b2'])
})

test('callers that wait are served in turns, however many requests of one came first', async () => {
  const budget = budgetOf({ share: 100 })
  const { take, granted, settled, release } = taker(budget)
  take('a0', 100)
  for (const name of ['a1', 'a2', 'a3', 'b1', 'c1']) take(name, 100)
  const order = ['a0', 'a1', 'b1', 'c1', 'a2', 'a3']
  for (const name of order) {
    await settled()
    release(name)
  }
  expect(granted).toEqual(order)
})

test('large work is not passed over by small work that comes later', async () => {
  const budget = budgetOf({ share: 100 })
  const { take, granted, settled, release } = taker(budget)
  take('a1', 60)
  take('b1', 100)
  take('c1', 10)
  await settled()
  expect(granted).toEqual(['a1'])
  release('a1')
  await settled()
  expect(granted).toEqual(['a1', 'b1'])
})

test('what waits is bounded, in number for each caller and all, and in time', async () => {
  const budget = budgetOf({ waitingMax: 3, waitingOfCallerMax: 2, waitMs: 10 })
  const release = await budget.take('a', 50)
  const other = await budget.take('b', 50)
  const waits = ['a', 'a', 'b'].map((caller) => budget.take(caller, 10).catch(({ code }) => code))
  await expect(budget.take('a', 10)).rejects.toMatchObject({ code: 'service_busy', fields: { retryAfterSeconds: 2 } })
  await expect(budget.take('c', 10)).rejects.toMatchObject({ code: 'service_busy' })
  expect(await Promise.all(waits)).toEqual(['service_busy', 'service_busy', 'service_busy'])
  release()
  other()
  expect([(await budget.take('a', 50)) instanceof Function, budget.used]).toEqual([true, 50])
})

test('a request whose client has left waits no longer', async () => {
  const budget = budgetOf()
  await budget.take('a', 50)
  const left = new AbortController()
  const waiting = budget.take('a', 50, left.signal).catch(({ code }) => code)
  left.abort()
  expect(await waiting).toBe('service_busy')
})
