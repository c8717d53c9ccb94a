// Parts that hang for a minute: their connections stay open, and nothing answers. Worker and api go on by themselves when the
// part does, and what they say to probes never waits for it.
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eventually } from '../../support/eventually.js'
import { submission } from '../../support/jobs/builders.js'
import { type Platform, startPlatform } from '../../support/stack/platform.js'
import { tcpProxy } from '../../support/stack/tcp-proxy.js'

const HANGS_MS = 60_000
/** As long as the balancer of docs/operations/deployment/few-machines.md waits. A wait for the part would take a minute. */
const PROBE_MS = 3_000
/** A single answer can be late because the machine stands still. */
const STALL_MS = 30_000
const modes = [{ execution_mode: 'direct' }, { execution_mode: 'temporal' }]

let platform: Platform
beforeAll(async () => {
  platform = await startPlatform('hung-parts', { redis: true, temporal: true, executor: true })
}, 180_000)
afterAll(() => platform.close())

const probe = async (url: string) => (await fetch(url, { signal: AbortSignal.timeout(STALL_MS) })).status

interface Answer {
  status: number
  ms: number
}

/** Probes of all processes answer until the hanging is over. @returns what each of them told. */
async function probesMeanwhile(urls: string[]): Promise<Map<string, Answer[]>> {
  const told = new Map(urls.map((url) => [url, [] as Answer[]]))
  const until = performance.now() + HANGS_MS
  while (performance.now() < until) {
    for (const url of urls) {
      const asked = performance.now()
      const status = await probe(url)
      told.get(url)!.push({ status, ms: performance.now() - asked })
    }
    await delay(500)
  }
  return told
}

/**
 * The part that hangs would keep all probes waiting, or have all of them refused. A machine that stalls does so to one or
 * another, also by an answer of the database that is late.
 */
function expectWell(answers: readonly Answer[]): void {
  const well = answers.filter(({ status, ms }) => status === 200 && ms < PROBE_MS)
  expect({ isWell: well.length > answers.length / 2, answers }).toEqual({ isWell: true, answers })
}

test.each(['redis', 'temporal', 'executor'] as const)(
  'while %s hangs for a minute, jobs are accepted and probes answered; then every job completes',
  async (part) => {
    const before = await Promise.all(modes.map((mode) => platform.submit(submission(mode))))
    for (const id of before) expect(await platform.ended(id)).toMatchObject({ status: 'completed' })
    const ids: string[] = []
    const api = `${platform.url()}/readyz`
    platform.freeze(part)
    try {
      const submitting = (async () => {
        for (let round = 0; round < 5; round++) {
          for (const mode of modes) ids.push(await platform.submit(submission(mode)))
          await delay(2_000)
        }
      })()
      const told = await probesMeanwhile([api, `${platform.workerUrl()}/readyz`, `${platform.workerUrl()}/healthz`])
      await submitting
      expectWell(told.get(api)!)
      expectWell(told.get(`${platform.workerUrl()}/healthz`)!)
    } finally {
      platform.thaw(part)
    }
    expect(ids).toHaveLength(5 * modes.length)
    for (const id of ids) expect(await platform.ended(id, 120_000)).toMatchObject({ status: 'completed', error: null })
    await eventually(async () => (await probe(`${platform.workerUrl()}/readyz`)) === 200)
  },
  300_000
)

test('a worker whose database hangs for a minute answers probes, and takes jobs again by itself', async () => {
  const database = new URL(platform.settings.DATABASE_URL!)
  const way = await tcpProxy({ host: database.hostname, port: Number(database.port) })
  database.hostname = '127.0.0.1'
  database.port = String(way.port)
  await platform.stop('worker')
  await platform.start.worker({ DATABASE_URL: database.href })
  const durable = await platform.submit(submission(modes[1]))
  expect(await platform.ended(durable)).toMatchObject({ status: 'completed' })

  way.hang()
  let ids: string[]
  try {
    ids = await Promise.all(modes.map((mode) => platform.submit(submission(mode))))
    const told = await probesMeanwhile([`${platform.workerUrl()}/healthz`])
    expectWell([...told.values()].flat())
  } finally {
    way.release()
  }
  for (const id of ids) expect(await platform.ended(id, 120_000)).toMatchObject({ status: 'completed', error: null })
  await platform.stop('worker')
  await platform.start.worker()
  await way.close()
}, 300_000)
