// The emulated providers of a stack, whose ledgers prove what was paid for. They are never killed.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EmulatedProvider } from '../../apps/cli/stack/parts/emulators.js'
import type { ProviderName } from '../../apps/emulators/emulators.js'
import { paidBackends } from '../support/stack/provider-platform.js'

/** Long enough for kills while tasks wait and run. */
const TIMING = { queue_ms: 4_000, run_ms: 1_000 }

/** IBM allows five, with which jobs would wait far longer than for any kill. */
const STARTS_PER_MINUTE = 1_000

export interface PaidTask {
  id: string
  token: string | null
  state: string
  /** The backend whose jobs its provider runs. */
  backend: string
}

export interface ProviderOfStack {
  name: string
  /** Its jobs are paid. */
  backend: string
  credentials: Record<string, string>
  slowDown(): Promise<void>
  /** Every accepted task. */
  tasks(): Promise<PaidTask[]>
}

/** @param dataDir the data folder of a stack with emulated hardware. */
export function providersOfStack(dataDir: string): ProviderOfStack[] {
  const { providers } = JSON.parse(readFileSync(join(dataDir, 'emulators.json'), 'utf8')) as {
    providers: EmulatedProvider[]
  }
  return providers.map(({ provider, control_url, credentials }) => {
    const backend = paidBackends[provider as ProviderName]
    const ask = (path: string, body?: unknown) => askControl(`${control_url}${path}`, body)
    return {
      name: provider,
      backend,
      credentials,
      async slowDown() {
        await ask('/timing', TIMING)
        if (provider === 'ibm-quantum') await ask('/settings', { starts_per_minute: STARTS_PER_MINUTE })
      },
      async tasks() {
        const { tasks } = (await ask('/tasks')) as { tasks: Omit<PaidTask, 'backend'>[] }
        return tasks.map(({ id, token, state }) => ({ id, token, state, backend }))
      }
    }
  })
}

async function askControl(url: string, body?: unknown): Promise<unknown> {
  const response = await fetch(url, {
    signal: AbortSignal.timeout(60_000),
    ...(body !== undefined && {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body)
    })
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`an emulated provider returned ${response.status} for ${url}: ${text}`)
  return text === '' ? null : JSON.parse(text)
}
