// `qjob admin system`: the state of the parts, queues, workers, sweeps and providers of the service.
import type { Command } from 'commander'
import type { ServiceOptions } from '../../session/service-command.js'
import { listing, table } from '../../terminal/layout.js'
import { printResult } from '../../terminal/output.js'
import { ago, clockTime } from '../../terminal/readable-time.js'
import { administratorCommand, withAdministrator } from './administrator.js'

/** A part that could not be read has a message in place of its figures. */
type Probed<Figures> = { state: 'ok' | 'failing'; message?: string } & Partial<Figures>
type Count<Names extends string> = Probed<Record<Names, number>>

interface Sweep {
  ran_at: string
  late: boolean
  handled: number
  failed: number
  error: string | null
  findings: { message: string }[]
}

interface Provider {
  worker_seen_at: string | null
  asked_at: string | null
  backends: number
  online: number
}

interface System {
  at: string
  version: string
  parts: Record<string, Probed<{ latency_ms: number }>>
  queues: {
    direct: Count<'waiting' | 'active' | 'delayed'>
    temporal: Count<'workflow_tasks' | 'activity_tasks'>
  }
  workers: { direct: Count<'count'>; temporal: Probed<{ pollers: { identity: string }[] }> }
  jobs: Count<'pending' | 'running' | 'cancelling'>
  outbox: Probed<{ rows: number; held: number; due: number; unreachable: number; oldest_seconds: number | null }>
  providers: { state: string; message?: string } & { [provider: string]: Provider | string | undefined }
  sweeps: { state: string; message?: string } & { [sweep: string]: Sweep | string | undefined }
}

export function addAdminSystemCommand(admin: Command): void {
  administratorCommand(
    admin,
    'system',
    'show the state of the parts, queues, workers, providers and sweeps of the service'
  ).action((options: ServiceOptions) =>
    withAdministrator(options, async (api) => {
      const { value, text } = await api.get<System>('/api/admin/system')
      printResult(options, text, () => systemText(value))
    })
  )
}

function systemText(system: System): string {
  const { parts, queues, workers, jobs, outbox } = system
  const facts = listing([
    ['at', clockTime(system.at)],
    ['version', system.version],
    ...Object.entries(parts).map(([name, part]): [string, string] => [
      name,
      stateText(part, ({ latency_ms: latency }) => `${latency} ms`)
    ]),
    ['direct queue', stateText(queues.direct, (q) => `${q.waiting} waiting, ${q.active} active, ${q.delayed} delayed`)],
    ['direct workers', stateText(workers.direct, ({ count }) => String(count))],
    [
      'task queue',
      stateText(queues.temporal, (q) => `${q.workflow_tasks} workflow tasks, ${q.activity_tasks} activity tasks`)
    ],
    ['task workers', stateText(workers.temporal, ({ pollers = [] }) => String(pollers.length))],
    [
      'jobs',
      stateText(
        jobs,
        ({ pending, running, cancelling }) => `${pending} pending, ${running} running, ${cancelling} cancelling`
      )
    ],
    ['outbox', stateText(outbox, outboxText)],
    ['providers', system.providers.message],
    ['sweeps', system.sweeps.message]
  ])
  return [facts, providersText(system), sweepsText(system)].filter((text) => text !== '').join('\n\n')
}

const stateText = <T extends Probed<object>>(part: T, figures: (part: T) => string): string =>
  part.state === 'ok' ? figures(part) : `failing: ${part.message ?? ''}`

const outboxText = ({ rows, held, due, unreachable, oldest_seconds: oldest }: System['outbox']): string =>
  `${rows} rows, ${held} held, ${due} due, ${unreachable} unreachable${oldest == null ? '' : `, the oldest ${oldest} s old`}`

function providersText({ providers }: System): string {
  const rows = Object.entries(providers).flatMap(([name, provider]) =>
    typeof provider === 'object' ? [[name, provider] as const] : []
  )
  if (rows.length === 0) return ''
  return table(
    [
      { heading: 'PROVIDER', least: 10 },
      { heading: 'ONLINE', right: true },
      { heading: 'WORKER SEEN', yields: 1 },
      { heading: 'ASKED', yields: 2 }
    ],
    rows.map(([name, { online, backends, worker_seen_at: seen, asked_at: asked }]) => [
      name,
      `${online} of ${backends}`,
      seen ? ago(seen) : 'never',
      asked ? ago(asked) : 'never'
    ])
  )
}

function sweepsText({ sweeps }: System): string {
  const rows = Object.entries(sweeps).flatMap(([name, sweep]) =>
    typeof sweep === 'object' ? [[name, sweep] as const] : []
  )
  if (rows.length === 0) return ''
  return table(
    [
      { heading: 'SWEEP', least: 10 },
      { heading: 'RAN', yields: 1 },
      { heading: 'HANDLED', right: true, yields: 3 },
      { heading: 'FAILED', right: true, yields: 2 },
      { heading: 'STATE', least: 12 }
    ],
    rows.map(([name, sweep]) => [
      name,
      ago(sweep.ran_at),
      String(sweep.handled),
      String(sweep.failed),
      sweepState(sweep)
    ])
  )
}

function sweepState({ error, late, findings }: Sweep): string {
  const facts = [
    ...(error === null ? [] : [error]),
    ...(late ? ['late'] : []),
    ...findings.map(({ message }) => message)
  ]
  return facts.length === 0 ? 'ok' : facts.join('; ')
}
