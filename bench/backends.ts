// GET /api/backends against a bare Fastify that sends the same bytes.
import autocannon from 'autocannon'
import { startBare } from './bare/bare-process.js'
import type { BenchStack } from './support/bench-stack.js'
import { againstGoal, median, printTable, spread } from './support/table.js'

const ROUNDS = 3
const WARM_UP_SECONDS = 2
const SECONDS = 4
const CONNECTIONS = 50
const GOAL = 0.8

export async function benchBackends(stack: BenchStack): Promise<void> {
  const platform = await stack.platform('bench_backends', stack.executors['no-op'])
  const ours = `${platform.base}/api/backends`
  const body = await (await fetch(ours)).text()
  const bareServer = await startBare({ role: 'fastify', body })
  const bare = bareServer.address
  const rates = { ours: [] as number[], bare: [] as number[] }
  try {
    // In turns, so that other load on the machine affects both.
    for (const url of [bare, ours]) await requestsPerSecond(url, WARM_UP_SECONDS)
    for (let round = 0; round < ROUNDS; round++) {
      rates.bare.push(await requestsPerSecond(bare))
      rates.ours.push(await requestsPerSecond(ours))
    }
  } finally {
    bareServer.stop()
    await platform.close()
  }
  const [mine, theirs] = [median(rates.ours), median(rates.bare)]
  const percent = rates.ours.map((rate, round) => (100 * rate) / rates.bare[round]!)
  printTable(
    `GET /api/backends (${(body.length / 1024).toFixed(1)} KiB, ${CONNECTIONS} connections)`,
    ['server', 'requests/s', 'lowest-highest', 'ratio', 'lowest-highest %'],
    [
      ['bare Fastify', theirs.toFixed(0), spread(rates.bare, 0), '', ''],
      ['api', mine.toFixed(0), spread(rates.ours, 0), againstGoal(median(percent) / 100, GOAL), spread(percent, 0)]
    ]
  )
}

async function requestsPerSecond(url: string, duration = SECONDS): Promise<number> {
  const result = await autocannon({ url, connections: CONNECTIONS, duration })
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${url}: ${result.non2xx} refusals, ${result.errors} errors`)
  return result.requests.average
}
