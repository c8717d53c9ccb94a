// Starts one bare part (bare.ts) in a separate process, as the platform's parts are.
import { fork } from 'node:child_process'
import { join } from 'node:path'
import { projectRoot } from '../../apps/cli/stack/project.js'

/** The message that a bare process receives once, at its start. */
export type BareTask =
  | { role: 'fastify'; body: string }
  | {
      role: 'bullmq'
      databaseUrl: string
      redisUrl: string
      prefix: string
      executorUrl: string
      executorToken: string
      permits: number
    }
  | {
      role: 'temporal'
      address: string
      taskQueue: string
      executorUrl: string
      executorToken: string
      permits: number
    }

export interface BareProcess {
  /** What it sent when it was ready: an address, or an empty text. */
  address: string
  stop(): void
}

export async function startBare(task: BareTask): Promise<BareProcess> {
  const child = fork(join(projectRoot, 'dist/bench/bare/bare.js'), { execArgv: ['--enable-source-maps'] })
  const address = await new Promise<string>((resolve, reject) => {
    child.once('message', (message) => resolve(String(message)))
    child.once('exit', (code) => reject(new Error(`bare ${task.role} exited with code ${code}`)))
    child.send(task)
  })
  return {
    address,
    stop() {
      child.kill('SIGKILL')
    }
  }
}
