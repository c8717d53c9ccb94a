// The runner's side of an attack's process.
import { fork } from 'node:child_process'
import { join } from 'node:path'
import { projectRoot } from '../../apps/cli/stack/project.js'
import type { AttackOrder, AttackResult, FromAttacker, ToAttacker } from './attacker.js'

/** The attack cancels its jobs for 15 s, and a request that it has begun may take a minute. */
const STOP_LIMIT_MS = 150_000

export interface Attacker {
  begin(): void
  /** Resolves when its connections are closed and its jobs cancelled. */
  stop(): Promise<AttackResult>
}

/** Resolves when the attack is prepared. */
export async function startAttacker(order: AttackOrder, prepareLimitMs: number): Promise<Attacker> {
  const child = fork(join(projectRoot, 'dist/test/hostile/attacker.js'), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    // A session of its own, to which the kernel can give less of the processors.
    detached: true
  })
  const received = <Kind extends FromAttacker['kind']>(kind: Kind) =>
    new Promise<Extract<FromAttacker, { kind: Kind }> | null>((resolve) => {
      child.on('message', (got: FromAttacker) => {
        if (got.kind === kind) resolve(got as Extract<FromAttacker, { kind: Kind }>)
      })
      child.once('close', () => resolve(null))
    })
  const sendToAttacker = (message: ToAttacker) => {
    if (child.connected) child.send(message)
  }
  const killAfter = (ms: number) => setTimeout(() => child.kill('SIGKILL'), ms)
  const results = received('result')
  const ready = received('ready')
  sendToAttacker({ kind: 'order', order })
  const late = killAfter(prepareLimitMs)
  await ready
  clearTimeout(late)
  return {
    begin: () => sendToAttacker({ kind: 'begin' }),
    stop: async () => {
      sendToAttacker({ kind: 'stop' })
      const timer = killAfter(STOP_LIMIT_MS)
      const got = await results
      clearTimeout(timer)
      return (
        got?.result ?? { replies: {}, acceptedBytes: 0, submitted: 0, outcomes: {}, error: 'its process exited early' }
      )
    }
  }
}
