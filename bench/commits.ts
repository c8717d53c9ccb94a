// `npm run bench -- --compare REF`: this working tree against another commit, each with an api, a worker and a database of its
// own, on the same servers and with the same executor that does nothing. They take turns, so that each round gives one ratio
// under the same load.
import { submitMany, untilAllAreFinal } from './submit.js'
import type { BenchPlatform, BenchStack } from './support/bench-stack.js'
import { median, printTable, quantile } from './support/table.js'
import { bytesSince, logEnd } from './wal.js'

const ROUNDS = 9
const WARM_UP_JOBS = 100
const CLIENTS = 10
const jobsOfMode = { direct: 300, temporal: 150 }
type Mode = keyof typeof jobsOfMode

interface Measured {
  /** Jobs per second, from the first submission to the last end. */
  jobs: number
  /** Submissions per second, while the jobs run. */
  submissions: number
  /** Milliseconds of a submission, below which 99 of 100 lie. */
  p99: number
  /** Bytes of Postgres' log for a job. */
  wal: number
}

/** @param root the folder of the other commit, built. */
export async function benchCommits(stack: BenchStack, { ref, root }: { ref: string; root: string }): Promise<void> {
  const executor = stack.executors['no-op']
  const sides: BenchPlatform[] = []
  try {
    sides.push(await stack.platform('bench_other_commit', executor, {}, root))
    sides.push(await stack.platform('bench_this_commit', executor))
    for (const side of sides) await side.startWorker()
    for (const mode of ['direct', 'temporal'] as const) {
      for (const side of sides) await measure(side, mode, WARM_UP_JOBS)
      const rounds: [other: Measured, own: Measured][] = []
      for (let round = 0; round < ROUNDS; round++) {
        const measured: Measured[] = []
        // Who is first has an advantage, or none: each is as often.
        for (const at of round % 2 === 0 ? [0, 1] : [1, 0])
          measured[at] = await measure(sides[at]!, mode, jobsOfMode[mode])
        rounds.push(measured as [Measured, Measured])
      }
      const rows = (['jobs', 'submissions', 'p99', 'wal'] as const).map((figure) => rowOf(rounds, figure))
      printTable(
        `${mode}: this tree against ${ref}, ${ROUNDS} rounds of ${jobsOfMode[mode]} jobs, ${CLIENTS} clients`,
        ['figure', `median of ${ref}`, 'median of this tree', 'ratio', 'middle half of the ratios', 'all'],
        rows
      )
    }
  } finally {
    for (const side of sides) await side.close()
  }
}

const names: Record<keyof Measured, string> = {
  jobs: 'jobs/s, from the first submission to the last end',
  submissions: 'submissions/s, while the jobs run',
  p99: 'p99 of a submission, ms',
  wal: 'bytes of the log for a job'
}

async function measure(side: BenchPlatform, mode: Mode, count: number): Promise<Measured> {
  const logged = await logEnd(side.connection)
  const began = performance.now()
  const { latencies, rate } = await submitMany(side, mode, CLIENTS, count)
  await untilAllAreFinal(side)
  const jobs = (count * 1_000) / (performance.now() - began)
  const wal = (await bytesSince(side.connection, logged)) / count
  return { jobs, submissions: rate, p99: quantile(latencies, 0.99), wal }
}

function rowOf(rounds: readonly [Measured, Measured][], figure: keyof Measured): string[] {
  const ratios = rounds.map(([other, own]) => own[figure] / other[figure])
  const of = (side: 0 | 1) => median(rounds.map((round) => round[side][figure])).toFixed(1)
  const between = (low: number, high: number) => `${low.toFixed(2)}-${high.toFixed(2)}`
  return [
    names[figure],
    of(0),
    of(1),
    median(ratios).toFixed(2),
    between(quantile(ratios, 0.25), quantile(ratios, 0.75)),
    between(Math.min(...ratios), Math.max(...ratios))
  ]
}
