// GET /api/backends against a bare Fastify that sends the same bytes.
import autocannon from 'autocannon'
import { startBare } from './bare/bare-process.js'
import type { BenchStack } from './support/bench-stack.js'
import { againstGoal, median, printTable } from './support/table.js'

const ROUNDS = 3
const SECONDS = 4
const CONNECTIONS = 50
const GOAL = 0.8

export async function benchBackends(stack: BenchStack): Promise<void> {
  const platform = await stack.platform('bench_backends', stack.executors['no-op'])
  const ours = `${platform.base}/api/backends`
  const body = await (await fetch(ours)).text()
  const bareServer = await startBare({ role: 'fastify', body })
  const bare = bareServer.answer
  const rates = { ours: [] as number[], bare: [] as number[] }
  try {
    // In turns, so that whatever else the machine does falls on both.
    for (let round = 0; round < ROUNDS; round++) {
      rates.bare.push(await requestsPerSecond(bare))
      rates.ours.push(await requestsPerSecond(ours))
    }
  } finally {
    bareServer.stop()
    await platform.close()
  }
  const [mine, theirs] = [median(rates.ours), median(rates.bare)]
  printTable(
    `GET /api/backends (${(body.length / 1024).toFixed(1)} KiB, ${CONNECTIONS} connections)`,
    ['server', 'requests/s', 'ratio'],
    [
      ['bare Fastify', theirs.toFixed(0), ''],
      ['api', mine.toFixed(0), againstGoal(mine / theirs, GOAL)]
    ]
  )
}

async function requestsPerSecond(url: string): Promise<number> {
  const result = await autocannon({ url, connections: CONNECTIONS, duration: SECONDS })
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${url}: ${result.non2xx} refusals, ${result.errors} errors`)
  return result.requests.average
}
