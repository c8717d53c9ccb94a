// Jobs at (emulated) providers, many of which wait for days: what the waiting costs, how soon the service notices an end, and
// what a job on a simulator feels of a provider that does not respond. `WAITING=100` changes the number of tasks that wait at
// each provider.
import { setTimeout as delay } from 'node:timers/promises'
import type { BenchStack } from '../support/bench-stack.js'
import { memoryOf } from '../support/process-load.js'
import { median, printTable, quantile } from '../support/table.js'
import { type Load, loadWhileWaiting } from './load.js'
import { type PreparedTimes, prepareTimes } from './prepare.js'
import { localBell, type Scene, startScene } from './scene.js'

const WAITING = Number(process.env.WAITING ?? 1_000)
const WARM_UP = 20
/** Tasks of each provider whose end is noticed. */
const ENDING = 25
const BELLS = 40
const BELL_GOAL = 1.2
const modes = ['direct', 'temporal'] as const

const DAY_MS = 86_400_000
/** How long a task that ends waits, longer than all are submitted: the longer, the rarer the service looks. */
const QUEUE_MS = 30_000
/** Until the first looks are over, which come sooner than later ones. */
const SETTLE_MS = 10_000
/** Until all calls that a worker makes at once hang. */
const HANG_MS = 5_000

type Bells = Record<(typeof modes)[number], number[]>

export async function benchProviders(stack: BenchStack): Promise<void> {
  const scene = await startScene(stack)
  try {
    await bells(scene)
    await scene.submitToEach(WARM_UP)
    await scene.untilCompleted(WARM_UP * scene.providers.length)
    const prepared = await prepareTimes(scene, stack.executors.real)
    const idle = { noticed: await noticed(scene), bells: await bells(scene), memory: memoryOf(scene.worker.pid) }

    for (const provider of scene.providers) await provider.timing({ queue_ms: DAY_MS, run_ms: 0 })
    const began = performance.now()
    const soFar = await acceptedTasks(scene)
    await scene.submitToEach(WAITING)
    await scene.untilAccepted(soFar + WAITING * scene.providers.length)
    const seconds = (performance.now() - began) / 1000
    await delay(SETTLE_MS)
    const load = await loadWhileWaiting(stack, scene)
    const waiting = { bells: await bells(scene), noticed: await noticed(scene) }

    for (const { fault } of scene.providers) await fault({ kind: 'hang', times: 1_000_000 })
    await delay(HANG_MS)
    const hanging = await bells(scene)

    printLoad(load, idle.memory, (WAITING * scene.providers.length) / seconds)
    printNoticed(scene, idle.noticed, waiting.noticed)
    printBells(idle.bells, waiting.bells, hanging)
    printPrepared(prepared)
  } finally {
    await scene.close()
  }
}

async function bells({ platform }: Scene): Promise<Bells> {
  const times: Bells = { direct: [], temporal: [] }
  for (let round = 0; round < BELLS; round++)
    for (const mode of modes) times[mode].push(await localBell(platform, mode))
  return times
}

/** For each provider, the milliseconds from the end of a task there to that of its job. */
async function noticed(scene: Scene): Promise<number[][]> {
  for (const provider of scene.providers) await provider.timing({ queue_ms: QUEUE_MS, run_ms: 0 })
  const from = Date.now()
  const { sql } = scene.platform.connection
  const [before] = await sql<{ done: number }[]>`
    select count(*)::int as done from provider_tasks t join jobs j on j.id = t.job_id where j.status = 'completed'`
  await scene.submitToEach(ENDING)
  await scene.untilCompleted(before!.done + ENDING * scene.providers.length)
  const rows = await sql<{ id: string; at: Date }[]>`
    select t.provider_job_id as id, j.completed_at as at
    from provider_tasks t join jobs j on j.id = t.job_id where j.status = 'completed'`
  const endOf = new Map(rows.map(({ id, at }) => [id, new Date(at).getTime()]))
  return Promise.all(
    scene.providers.map(async ({ tasks }) =>
      (await tasks())
        .filter(({ submitted_at, completed_at }) => Date.parse(submitted_at) >= from && completed_at !== null)
        .map(({ id, completed_at }) => endOf.get(id)! - Date.parse(completed_at!))
    )
  )
}

async function acceptedTasks({ providers }: Scene): Promise<number> {
  const counts = await Promise.all(providers.map(async ({ tasks }) => (await tasks()).length))
  return counts.reduce((sum, count) => sum + count, 0)
}

function printLoad(load: Load, idleMib: number, startedPerSecond: number): void {
  const ofProviders = load.providers.flatMap(({ name, callsPerSecond, looksPerSecond, rate, above }) => [
    [`${name}: calls/s`, callsPerSecond.toFixed(1), ''],
    [
      `${name}: looks/s, and its limit`,
      `${looksPerSecond.toFixed(1)} of ${rate ? rate.look.max / rate.look.windowSeconds : 'any number'}`,
      ''
    ],
    [`${name}: requests above its rate`, tooSoon(above), `0: ${above.length === 0 ? 'reached' : 'missed'}`]
  ])
  printTable(
    `${load.waiting} tasks wait at their providers`,
    ['what', 'figure', 'goal'],
    [
      ['compiled and accepted until then, jobs/s', startedPerSecond.toFixed(1), ''],
      ...ofProviders,
      ['database, transactions/s', load.transactionsPerSecond.toFixed(0), ''],
      ['Temporal, events/s', load.eventsPerSecond.toFixed(2), ''],
      [
        'Temporal / worker, processor time',
        `${percent(load.temporalCores)} / ${percent(load.workerCores)} of a core`,
        ''
      ],
      ['worker without / with them', `${idleMib} / ${load.workerMib} MiB`, ''],
      ['worker, per waiting task', `${(((load.workerMib - idleMib) * 1024) / load.waiting).toFixed(1)} KiB`, '']
    ]
  )
}

const tooSoon = (times: readonly number[]): string =>
  times.length === 0 ? '0' : `${times.length}, at most ${Math.max(...times)} ms too soon`

const percent = (share: number): string => `${(100 * share).toFixed(0)} %`

function printNoticed({ providers }: Scene, idle: number[][], busy: number[][]): void {
  const seconds = (times: number[]) =>
    [0.5, 0.95].map((share) => (quantile(times, share) / 1000).toFixed(2)).join(' / ')
  printTable(
    `From the end of a task at its provider, after ${QUEUE_MS / 1000} s there, to the completed job`,
    ['provider', 'alone, p50 / p95 s', 'while others wait, p50 / p95 s', 'ratio of the p95'],
    providers.map(({ name }, at) => [
      name,
      seconds(idle[at]!),
      seconds(busy[at]!),
      `${(quantile(busy[at]!, 0.95) / quantile(idle[at]!, 0.95)).toFixed(2)}`
    ])
  )
}

function printBells(alone: Bells, waiting: Bells, hanging: Bells): void {
  const both = (times: number[]) => `${median(times).toFixed(0)} / ${quantile(times, 0.95).toFixed(0)}`
  printTable(
    'A Bell pair on `local`, p50 / p95 ms',
    ['mode', 'alone', 'while tasks wait', 'while their providers hang', 'ratio of the p50'],
    modes.map((mode) => {
      const ratio = median(hanging[mode]) / median(alone[mode])
      const verdict = `${ratio.toFixed(2)} (goal ${BELL_GOAL}: ${ratio <= BELL_GOAL ? 'reached' : 'missed'})`
      return [mode, both(alone[mode]), both(waiting[mode]), both(hanging[mode]), verdict]
    })
  )
}

function printPrepared(prepared: PreparedTimes[]): void {
  printTable(
    'A circuit over all qubits of a device, described and compiled',
    ['device', 'qubits', 'description cached, p50 ms', 'not cached', 'of which the description', 'ratio'],
    prepared.map(({ slug, qubits, cached, uncached, described }) => [
      slug,
      String(qubits),
      median(cached).toFixed(0),
      median(uncached).toFixed(0),
      median(described).toFixed(1),
      (median(uncached) / median(cached)).toFixed(2)
    ])
  )
}
