// The process of one attack, apart from the measurement, with a low priority: in reality it runs on another machine.
import { setMaxListeners } from 'node:events'
import { writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import type { Account } from './accounts.js'
import { attacks } from './attacks/table.js'
import { Hostile, type Surroundings } from './hostile-client.js'

const LOW_PRIORITY = 10

export interface AttackOrder {
  name: string
  base: string
  account: Account
  surroundings: Surroundings
}

export interface AttackResult {
  replies: Record<string, number>
  acceptedBytes: number
  submitted: number
  /** How many of its first jobs have each status and error code, right after the attack. */
  outcomes: Record<string, number>
  error: string | null
}

/** To the runner: first `ready`, then the result. From the runner: the order, then `begin`, then `stop`. */
export type FromAttacker = { kind: 'ready' } | { kind: 'result'; result: AttackResult }
export type ToAttacker = { kind: 'order'; order: AttackOrder } | { kind: 'begin' } | { kind: 'stop' }

const sendToRunner = (message: FromAttacker) => new Promise<void>((resolve) => process.send!(message, () => resolve()))
let begin = () => {}
const begun = new Promise<void>((resolve) => {
  begin = resolve
})
const stop = new AbortController()
// Each of the attack's concurrent requests waits for it.
setMaxListeners(0, stop.signal)

process.on('disconnect', () => process.exit(1))
process.on('message', (message: ToAttacker) => {
  if (message.kind === 'order') void run(message.order)
  else if (message.kind === 'begin') begin()
  else stop.abort()
})

/** Where the kernel shares processors between sessions, the priority of the session counts. */
function lowerSession(): void {
  try {
    writeFileSync('/proc/self/autogroup', String(LOW_PRIORITY))
  } catch {
    // The kernel does not share between sessions, or lets an ordinary user change a session only now and then.
  }
}

async function run({ name, base, account, surroundings }: AttackOrder): Promise<void> {
  setPriority(LOW_PRIORITY)
  lowerSession()
  const hostile = new Hostile(base, account, surroundings)
  const attack = attacks.find((entry) => entry.name === name)!
  let error: string | null = null
  try {
    await attack.prepare?.(hostile)
    await sendToRunner({ kind: 'ready' })
    await begun
    await attack.attack(hostile, stop.signal)
  } catch (thrown) {
    error = (thrown as Error).stack ?? String(thrown)
    await sendToRunner({ kind: 'ready' })
  }
  const { replies } = hostile
  const counted = { ...replies }
  await hostile.stop()
  const outcomes = await hostile.outcomes()
  const { acceptedBytes, jobs } = hostile
  await sendToRunner({
    kind: 'result',
    result: { replies: counted, acceptedBytes, submitted: jobs.length, outcomes, error }
  })
  process.disconnect()
}
