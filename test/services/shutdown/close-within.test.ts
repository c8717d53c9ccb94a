// A process that stops ends, whatever its parts wait for.
import { expect, test } from '@jest/globals'
import { closeWithin } from '../../../services/shutdown/close-within.js'

const never = new Promise<never>(() => {})

function bench() {
  const lines: [level: string, fields: Record<string, unknown>, message: string][] = []
  const note = (level: string) => (fields: object, message: string) => void lines.push([level, { ...fields }, message])
  return { lines, log: { error: note('error'), warn: note('warn') } as never }
}

test('parts that close leave the exit code 0, and no word', async () => {
  const { lines, log } = bench()
  const order: string[] = []
  const closed = async (name: string) => void order.push(name)
  const code = await closeWithin(60_000, log, async (part) => {
    await part('first', closed('first'))
    await part('absent', undefined)
    await part('second', closed('second'))
  })
  expect([code, order, lines]).toEqual([0, ['first', 'second'], []])
})

test('a part that fails is logged by its name, and the parts after it are closed', async () => {
  const { lines, log } = bench()
  const err = new Error('its server is away')
  let isClosed = false
  const code = await closeWithin(60_000, log, async (part) => {
    await part('first', Promise.reject(err))
    await part('second', Promise.resolve())
    isClosed = true
  })
  expect([code, isClosed]).toEqual([0, true])
  expect(lines).toEqual([['warn', { part: 'first', err }, expect.any(String)]])
})

test('parts that never close are named, each once, and the process ends with exit code 1', async () => {
  const { lines, log } = bench()
  const code = await closeWithin(50, log, async (part) => {
    await Promise.all([part('loop mails', never), part('done', Promise.resolve()), part('loop mails', never)])
    await part('database', never)
  })
  expect(code).toBe(1)
  expect(lines).toEqual([['error', { parts: ['loop mails'], seconds: 0.05 }, expect.any(String)]])
})

test('a fault between the parts ends the process with exit code 1', async () => {
  const { lines, log } = bench()
  const err = new Error('a fault of the program')
  expect(await closeWithin(60_000, log, () => Promise.reject(err))).toBe(1)
  expect(lines).toEqual([['error', { err }, expect.any(String)]])
})
