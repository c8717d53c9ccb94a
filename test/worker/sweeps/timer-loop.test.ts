// The loop of a sweep: when its passes begin.
import { afterEach, test } from '@jest/globals'
import { pino } from 'pino'
import { startLoop, type WakeableLoop } from '../../../apps/worker/sweeps/timer-loop.js'
import { eventually } from '../../support/eventually.js'

const HOUR_MS = 3_600_000
const log = pino({ level: 'silent' })
let loop: WakeableLoop
let passes = 0
/** Ends the pass under way. */
let endPass = () => {}
const passHas = (begun: number) => eventually(() => passes === begun)

const start = (everyMs: number, pass: () => Promise<boolean>) => {
  passes = 0
  loop = startLoop('a loop', everyMs, log, () => {
    passes++
    return pass()
  })
}
const slowPass = () =>
  new Promise<boolean>((resolve) => {
    endPass = () => resolve(false)
  })

afterEach(() => loop.close())

test('a loop that is woken in its pause begins the next pass at once', async () => {
  start(HOUR_MS, async () => false)
  await passHas(1)
  loop.wake()
  await passHas(2)
})

test('a loop that is woken during a pass makes another after it', async () => {
  start(HOUR_MS, slowPass)
  await passHas(1)
  loop.wake()
  endPass()
  await passHas(2)
  endPass()
  loop.wake()
  await passHas(3)
  endPass()
})

test('a loop that is woken keeps its rhythm', async () => {
  start(20, async () => false)
  loop.wake()
  await eventually(() => passes >= 5)
})

test('a pass that fails is followed by the next', async () => {
  start(1, () => Promise.reject(new Error('out of ink')))
  await eventually(() => passes >= 3)
})
