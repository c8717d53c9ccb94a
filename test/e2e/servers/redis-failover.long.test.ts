// Redis fails over, or hangs, under load: requests are served, and every accepted job runs once.
import { afterEach, expect, test } from '@jest/globals'
import { eventually } from '../../support/eventually.js'
import { submission } from '../../support/jobs/builders.js'
import { redisServers } from '../../support/redis/redis-servers.js'
import { type Platform, startPlatform } from '../../support/stack/platform.js'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const direct = { execution_mode: 'direct' }

async function startOn(file: string, redis: Record<string, string>): Promise<Platform> {
  const platform = await startPlatform(file, {}, { ...redis, REDELIVER_SECONDS: '3', RATE_LIMIT_SCALE: '1000' })
  closing.push(() => platform.close())
  return platform
}

/** Submits one job after the other until it is stopped, and gives each a second to change its status. */
function load(platform: Platform) {
  const ids: string[] = []
  let isOver = false
  const submitting = (async () => {
    while (!isOver) {
      const id = await platform.submit(submission(direct))
      ids.push(id)
      await platform.call('GET', `/api/jobs/${id}/status?wait=1`)
    }
  })()
  return {
    ids,
    /** Waits for more jobs to be accepted. */
    more: async (count: number) => {
      const wanted = ids.length + count
      await Promise.race([eventually(() => ids.length >= wanted), submitting])
    },
    stop: async () => {
      isOver = true
      await submitting
    }
  }
}

async function eachRunsOnce(platform: Platform, ids: string[]): Promise<void> {
  for (const id of ids)
    expect(await platform.ended(id, 120_000)).toMatchObject({ status: 'completed', error: null, attempts: 1 })
}

/** What the api logged about its limits. */
const limitsSaid = (platform: Platform): string[] =>
  platform
    .logLines()
    .filter(({ process, msg }) => process === 'api' && /rate limits (do not )?hold/.test(String(msg)))
    .map(({ msg }) => String(msg))

test.each(['is killed', 'hangs'])(
  'a primary that Sentinels watch %s',
  async (how) => {
    const servers = redisServers(`failover-${how.replace(' ', '-')}`)
    closing.push(() => servers.close())
    const { primary, replica, env } = await servers.sentinel(3)
    const platform = await startOn('failover-sentinel', env)
    const jobs = load(platform)
    await jobs.more(5)
    if (how === 'hangs') process.kill(primary.pid, 'SIGSTOP')
    else primary.kill()
    await eventually(async () => (await replica.redis.info('replication')).includes('role:master'), {
      timeoutMs: 60_000
    })
    await eventually(() => limitsSaid(platform).at(-1) === 'rate limits hold again')
    await jobs.more(5)
    await jobs.stop()
    await eachRunsOnce(platform, jobs.ids)
    expect(limitsSaid(platform)[0]).toContain('rate limits do not hold')
  },
  300_000
)

test('the primary of a cluster that holds the queue is killed', async () => {
  const servers = redisServers('failover-cluster')
  closing.push(() => servers.close())
  const { owner, nodes, env } = await servers.cluster('{failover}')
  const platform = await startOn('failover-cluster', { ...env, QUEUE_PREFIX: 'failover' })
  const jobs = load(platform)
  await jobs.more(5)
  owner!.kill()
  const replica = nodes.at(-1)!
  await eventually(async () => (await replica.redis.info('replication')).includes('role:master'))
  await eventually(() => limitsSaid(platform).at(-1) === 'rate limits hold again')
  await jobs.more(5)
  await jobs.stop()
  await eachRunsOnce(platform, jobs.ids)
  expect(limitsSaid(platform)[0]).toContain('rate limits do not hold')
}, 300_000)

test('a whole cluster is away for a while', async () => {
  const servers = redisServers('failover-all')
  closing.push(() => servers.close())
  const { nodes, env } = await servers.cluster(null)
  const platform = await startOn('failover-all', env)
  const jobs = load(platform)
  await jobs.more(5)
  for (const { pid } of nodes) process.kill(pid, 'SIGSTOP')
  await eventually(() => limitsSaid(platform).length > 0)
  await jobs.more(5)
  for (const { pid } of nodes) process.kill(pid, 'SIGCONT')
  await eventually(() => limitsSaid(platform).at(-1) === 'rate limits hold again')
  await jobs.more(5)
  await jobs.stop()
  await eachRunsOnce(platform, jobs.ids)
}, 300_000)

test('a server that hangs holds no request, and its jobs run when it goes on', async () => {
  const servers = redisServers('failover-hung')
  closing.push(() => servers.close())
  const { server, env } = await servers.single()
  const platform = await startOn('failover-hung', env)
  process.kill(server.pid, 'SIGSTOP')
  const id = await platform.submit(submission(direct))
  // An api says 200 once its database has answered within one probe.
  await eventually(async () => {
    const ready = await platform.call('GET', '/readyz')
    expect([ready.status, ((await ready.json()) as { status: string }).status]).toEqual([200, 'degraded'])
    return true
  })
  await platform.until(id, (job) => job.queue?.reason === 'engine_unavailable')
  process.kill(server.pid, 'SIGCONT')
  await eachRunsOnce(platform, [id])
}, 120_000)
