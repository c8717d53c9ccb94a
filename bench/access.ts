// The time that authentication adds to a request (credential, team, role and rate limit), against a public route.
import { Agent, request } from 'undici'
import type { BenchPlatform, BenchStack } from './support/bench-stack.js'
import { median, printTable, quantile } from './support/table.js'

const WARM_UP = 300
const ROUNDS = 2_000
const GOAL_MS = 1.5

export async function benchAccess(stack: BenchStack): Promise<void> {
  // With limits that are never reached, so that they are checked on every request.
  const platform = await stack.platform('bench_access', stack.executors['no-op'], { RATE_LIMIT_SCALE: '100000' })
  const agent = new Agent({ connections: 1 })
  try {
    const { key, teamId } = await makeKey(platform)
    const open = timedRequest(agent, `${platform.base}/api/meta`, {})
    const members = `${platform.base}/api/teams`
    const cases: [string, () => Promise<number>][] = [
      ['GET /api/meta, public', open],
      ['GET /api/teams with a session', timedRequest(agent, members, { cookie: platform.cookie })],
      ['GET /api/teams with a key', timedRequest(agent, members, { authorization: `Bearer ${key}` })],
      [
        'GET /api/jobs of a team without jobs, with a session',
        timedRequest(agent, `${platform.base}/api/jobs?team_id=${teamId}`, { cookie: platform.cookie })
      ]
    ]
    const times = cases.map((): number[] => [])
    // In turns, so that other load on the machine affects all cases equally.
    for (let round = -WARM_UP; round < ROUNDS; round++)
      for (const [at, [, send]] of cases.entries()) {
        const ms = await send()
        if (round >= 0) times[at]!.push(ms)
      }
    const bare = median(times[0]!)
    const rows = cases.map(([name], at) => {
      const p50 = median(times[at]!)
      const over = p50 - bare
      const verdict =
        at === 0 ? '' : `${over.toFixed(2)} ms more (goal ${GOAL_MS}: ${over <= GOAL_MS ? 'reached' : 'missed'})`
      return [name, p50.toFixed(2), quantile(times[at]!, 0.99).toFixed(2), verdict]
    })
    printTable('Authentication', ['request', 'p50 ms', 'p99 ms', ''], rows)
  } finally {
    await agent.close()
    await platform.close()
  }
}

async function makeKey({ base, cookie }: BenchPlatform): Promise<{ key: string; teamId: string }> {
  const { statusCode, body } = await request(`${base}/api/team/api-keys`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', cookie },
    body: JSON.stringify({ name: 'bench', tier: 'read', kind: 'live' })
  })
  if (statusCode !== 201) throw new Error(`creating a key returned ${statusCode}: ${await body.text()}`)
  const { key, team_id } = (await body.json()) as { key: string; team_id: string }
  return { key, teamId: team_id }
}

const timedRequest = (dispatcher: Agent, url: string, headers: Record<string, string>) => async (): Promise<number> => {
  const begun = performance.now()
  const { statusCode, body } = await request(url, { headers, dispatcher })
  await body.dump()
  if (statusCode !== 200) throw new Error(`${url} returned ${statusCode}`)
  return performance.now() - begun
}
