// Attacks by what the service sends: webhooks, mails, jobs at a provider.
import type { Attack } from '../attack.js'
import { type Hostile, pause, repeat } from '../hostile-client.js'
import { bell } from '../neighbour.js'

const HOUR_MS = 60 * 60_000
const WEBHOOKS = 20
const INVITATIONS_PER_SECOND = 5
const hardware = 'ionq-direct-forte-1'

const circuit = { format: 'qasm3', payload: bell }

/** Jobs that never run, each with an event when it is cancelled. */
async function cancelledJobs(hostile: Hostile, until: AbortSignal, more: Record<string, unknown>): Promise<void> {
  const not_before = new Date(Date.now() + HOUR_MS).toISOString()
  await repeat(until, { lanes: 3, perSecond: 5 }, async () => {
    const id = await hostile.submit({ circuit, not_before, ...more })
    if (id === null) return pause(500, until)
    return hostile.call('POST', `/api/jobs/${id}/cancel`)
  })
}

export const outwardAttacks: Attack[] = [
  {
    name: 'webhook-tarpit',
    what: `${WEBHOOKS} webhooks to a receiver that never responds, with an event for each cancelled job`,
    prepare: async (hostile) => {
      const events = ['job.cancelled', 'job.completed', 'job.failed']
      for (let made = 0; made < WEBHOOKS; made++) {
        const body = { team_id: hostile.teamId, url: `${hostile.surroundings.tarpitUrl}/${made}`, events }
        await hostile.call('POST', '/api/team/webhooks', body, { as: 'session' })
      }
    },
    attack: (hostile, until) => cancelledJobs(hostile, until, {})
  },
  {
    name: 'mails',
    what: 'invitations to many addresses and a mail for each cancelled job, to a mail server that never responds',
    attack: async (hostile, until) => {
      const message = 'x'.repeat(500)
      const invite = (turn: number) => ({
        team_id: hostile.teamId,
        email: `victim-${turn}@example.net`,
        role: 'member',
        message
      })
      await Promise.all([
        repeat(until, { lanes: 2, perSecond: INVITATIONS_PER_SECOND }, (turn) =>
          hostile.call('POST', '/api/team/invitations', invite(turn), { as: 'session' })
        ),
        cancelledJobs(hostile, until, { notify: 'email', name: 'x'.repeat(200) })
      ])
    }
  },
  {
    name: 'provider-cancels',
    what: 'paid jobs at the emulated provider, each cancelled at once',
    tier: 'qpu',
    prepare: async (hostile) => {
      const body = { team_id: hostile.teamId, provider: 'ionq', secrets: hostile.surroundings.ionq }
      await hostile.call('POST', '/api/team/secrets', body, { as: 'session' })
      await hostile.call('PATCH', '/api/team/budget', { daily_usd: 1000 }, { as: 'session' })
    },
    attack: async (hostile, until) =>
      repeat(until, { lanes: 4, perSecond: 5 }, async (turn) => {
        const id = await hostile.submit({ circuit, backend: hardware, params: { shots: 100 } })
        if (id === null) return pause(500, until)
        await pause((turn % 4) * 300, until)
        return hostile.call('POST', `/api/jobs/${id}/cancel`)
      })
  }
]
