// Jobs per second in each mode, from handing over a backlog to the last `completed`, against the bare dispatch target:
// BullMQ with the same SQL, Temporal with as many activities. Measured with an executor that does nothing (the platform's
// own cost) and with the real one (what a user sees).
//
// Both sides run throughout, are warmed up, and take turns, so that each round gives one ratio under the same load.
import type { BenchStack, ExecutorAddress } from '../support/bench-stack.js'
import { againstGoal, median, printTable, spread } from '../support/table.js'
import { startBareQueueSide, startBareTemporalSide } from './bare-sides.js'
import { type Mode, startPlatformSide } from './platform-side.js'
import { jobsPerSecond, type ThroughputSide } from './side.js'

const ROUNDS = 3
const WARM_UP_JOBS = 50
const jobsPerRound = { 'no-op': { direct: 400, temporal: 200 }, real: { direct: 200, temporal: 200 } }
const goals = { direct: 0.5, temporal: 0.8 }
const bareNames = { direct: 'bare BullMQ + same SQL', temporal: 'bare Temporal' }

export async function benchThroughput(stack: BenchStack): Promise<void> {
  for (const executor of Object.values(stack.executors)) {
    const rows: string[][] = []
    for (const mode of ['direct', 'temporal'] as const) {
      const { ours, bare } = await compare(stack, mode, executor)
      const percent = ours.map((rate, round) => (100 * rate) / bare[round]!)
      rows.push([bareNames[mode], median(bare).toFixed(1), spread(bare, 1), '', ''])
      rows.push([
        mode,
        median(ours).toFixed(1),
        spread(ours, 1),
        againstGoal(median(percent) / 100, goals[mode]),
        spread(percent, 0)
      ])
    }
    printTable(
      `Jobs in each mode, ${executor.name} executor, medians of ${ROUNDS} rounds`,
      ['dispatch target', 'jobs/s', 'lowest-highest', 'ratio', 'lowest-highest %'],
      rows
    )
  }
}

async function compare(
  stack: BenchStack,
  mode: Mode,
  executor: ExecutorAddress
): Promise<{ ours: number[]; bare: number[] }> {
  const name = `${mode}_${executor.name.replace('-', '')}`
  const startBareSide = mode === 'direct' ? startBareQueueSide : startBareTemporalSide
  const sides: ThroughputSide[] = []
  try {
    const bareSide = await startBareSide(stack, `bare_${name}`, executor)
    sides.push(bareSide)
    const platformSide = await startPlatformSide(stack, `bench_${name}`, executor, mode)
    sides.push(platformSide)
    for (const side of sides) await jobsPerSecond(side, WARM_UP_JOBS)
    const rates = { ours: [] as number[], bare: [] as number[] }
    for (let round = 0; round < ROUNDS; round++) {
      rates.bare.push(await jobsPerSecond(bareSide, jobsPerRound[executor.name][mode]))
      rates.ours.push(await jobsPerSecond(platformSide, jobsPerRound[executor.name][mode]))
    }
    return rates
  } finally {
    for (const side of sides) await side.close()
  }
}
