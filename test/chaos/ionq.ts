// The emulated provider of a stack, whose ledger proves what was paid for. It is never killed.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EmulatedProvider } from '../../apps/cli/stack/parts/emulators.js'

/** Long enough for kills while tasks wait and run. */
const TIMING = { queue_ms: 4_000, run_ms: 1_000 }

export interface PaidTask {
  id: string
  token: string | null
  state: string
}

export interface EmulatedIonq {
  credentials: Record<string, string>
  slowDown(): Promise<void>
  /** Every accepted task. */
  tasks(): Promise<PaidTask[]>
}

/** @param dataDir the data folder of a stack with emulated hardware. */
export function emulatedIonq(dataDir: string): EmulatedIonq {
  const { providers } = JSON.parse(readFileSync(join(dataDir, 'emulators.json'), 'utf8')) as {
    providers: EmulatedProvider[]
  }
  const { control_url, credentials } = providers.find(({ provider }) => provider === 'ionq')!
  const ask = async (path: string, body?: unknown): Promise<unknown> => {
    const response = await fetch(`${control_url}${path}`, {
      signal: AbortSignal.timeout(10_000),
      ...(body !== undefined && {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body)
      })
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`the emulated provider returned ${response.status}: ${text}`)
    return text === '' ? null : JSON.parse(text)
  }
  return {
    credentials,
    slowDown: async () => void (await ask('/timing', TIMING)),
    tasks: async () => ((await ask('/tasks')) as { tasks: PaidTask[] }).tasks
  }
}
