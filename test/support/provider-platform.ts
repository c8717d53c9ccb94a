// A platform whose providers are emulated: real api, worker, executor, Temporal and database; the provider's ledger is the
// witness of what was paid for.
import { type EmulatorOptions, startEmulators } from '../../apps/emulators/emulators.js'
import type { LedgerTask } from '../../apps/emulators/provider.js'
import { ledgerMismatches } from '../../db/money-proof.js'
import { eventually } from './eventually.js'
import { type JobRecord, type OwnParts, startPlatform } from './platform.js'

/** Short, so that a test need not wait for minutes until "not found" counts. */
export const LOOKUP_WINDOW_SECONDS = 3

export async function startProviderPlatform(
  file: string,
  {
    own = {},
    env = {},
    timing = {}
  }: { own?: OwnParts; env?: Record<string, string>; timing?: EmulatorOptions['timing'] } = {}
) {
  const emulators = await startEmulators({ timing })
  const ionq = emulators.provider('ionq')
  const platform = await startPlatform(file, own, {
    IONQ_API_URL: ionq.base_url,
    EMULATED_HARDWARE: '1',
    PROVIDER_LOOKUP_WINDOW: String(LOOKUP_WINDOW_SECONDS),
    PROVIDER_CANCEL_DEADLINE: '8',
    SECRETS_KEYS: `test:${Buffer.from('a ring key of 32 bytes for tests').toString('base64')}`,
    ...env
  })
  const team = (await (await platform.call('POST', '/api/teams', { name: 'Hardware' })).json()) as { id: string }
  const stored = await platform.call('POST', '/api/team/secrets', {
    team_id: team.id,
    provider: 'ionq',
    secrets: ionq.credentials
  })
  if (stored.status !== 201) throw new Error(`secrets: ${stored.status} ${await stored.text()}`)
  await eventually(async () => {
    const { isAvailable } = (await (await platform.call('GET', '/api/backends/ionq-direct-forte-1')).json()) as {
      isAvailable: boolean
    }
    return isAvailable || null
  })

  return {
    ...platform,
    ionq: ionq.control,
    teamId: team.id,

    /** A paid job of 100 shots: 1.30 USD. */
    submitPaid: (body: Record<string, unknown> = {}): Promise<string> =>
      platform.submit({
        circuit: { format: 'qasm3', payload: bell },
        backend: 'ionq-direct-forte-1',
        params: { shots: 100 },
        team_id: team.id,
        ...body
      }),

    /** Paid work as the provider sees it. */
    async paidTasks(count: number): Promise<LedgerTask[]> {
      return eventually(async () => {
        const tasks = ionq.control.tasks()
        return tasks.length >= count ? tasks : null
      })
    },

    async budget() {
      const answer = await platform.call('GET', `/api/team/budget?team_id=${team.id}`)
      return (await answer.json()) as { day: { spent_usd: number; reserved_usd: number } }
    },

    mismatches: () => ledgerMismatches(platform.connection.db),

    /** Events in the history of a job's workflow. */
    cancel: async (id: string): Promise<JobRecord> =>
      (await (await platform.call('POST', `/api/jobs/${id}/cancel`)).json()) as JobRecord,

    async close(): Promise<void> {
      await platform.close()
      await emulators.close()
    }
  }
}

export type ProviderPlatform = Awaited<ReturnType<typeof startProviderPlatform>>

export const bell = 'OPENQASM 3.0;\ninclude "stdgates.inc";\nqubit[2] q;\nh q[0];\ncx q[0], q[1];\n'
