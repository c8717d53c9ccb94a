// Waiting for a result with the public client: as long as requested, through pauses, and through a restart of the service.
import { expect } from '@jest/globals'
import { eventually } from '../support/eventually.js'
import { submission } from '../support/jobs/builders.js'
import { longTest } from '../support/lane.js'
import { type PassedRequest, startProxy } from './proxy.js'
import type { Scene } from './scene.js'

const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1000).toISOString()
const waitingJob = (scene: Scene, seconds = 3600): Promise<string> =>
  scene.platform.submit(submission({ team_id: scene.teamId, not_before: inSeconds(seconds) }))

interface Poll {
  seconds: number
  status: string
  fields: string[]
}

/** The slow checks, which start before all tests. */
export interface LongWaits {
  /** For each of `waits` two polls, one after the other: a machine that stalls holds one of them up. */
  polls: Promise<[Poll, Poll][]>
  /** The local end of a client's connection before and after its longest pause between two polls. */
  kept: Promise<[before: unknown, after: unknown]>
  /** The poll during a restart of the limited api, and the final result of the client. */
  restarted: Promise<{ waitingPoll: PassedRequest; counts: Record<string, number> }>
}

const waits = ['', '?wait=abc', '?wait=-3', '?wait=', '?wait=3', '?wait=999']

export function beginLongWaits(scene: Scene): LongWaits {
  const { python, there } = scene
  const poll = async (job: string, query: string) =>
    python.run<Poll>(
      `
      began = time.monotonic()
      answer = requests.get(f"{url}/api/jobs/{job}/status{query}", headers={"Authorization": f"Bearer {key}"}).json()
      return {"seconds": time.monotonic() - began, "status": answer["status"], "fields": sorted(answer)}
      `,
      { ...there, job, query }
    )
  const polls = waitingJob(scene).then((job) =>
    Promise.all(waits.map(async (query): Promise<[Poll, Poll]> => [await poll(job, query), await poll(job, query)]))
  )
  const kept = waitingJob(scene).then((job) =>
    python.run<[unknown, unknown]>(
      `
      client = connect(url, key)
      polled = client.job(job)
      polled.status()
      before = socket_of(client)
      time.sleep(10.5)
      polled.status()
      return [before, socket_of(client)]
      `,
      { ...there, job }
    )
  )
  const restarted = restartWhileWaiting(scene)
  // Their tests await them; a failure before that must not be unhandled.
  for (const wait of [polls, kept, restarted]) wait.catch(() => {})
  return { polls, kept, restarted }
}

async function restartWhileWaiting(scene: Scene): LongWaits['restarted'] {
  const { limited, python, there } = scene
  const proxy = await startProxy(limited.url)
  try {
    const job = await waitingJob(scene, 20)
    // The pauses between the client's polls grow to 10 s, which takes half a minute.
    const counts = python.run<Record<string, number>>(
      'return connect(url, key).job(job).result(120, poll_interval=10).counts',
      { ...there, url: proxy.url, job }
    )
    const waitingPoll = await eventually(() => proxy.requests.find(({ sent }) => sent) ?? null, { timeoutMs: 30_000 })
    // The api has received the poll if it has responded to a later request.
    await fetch(`${limited.url}/healthz`)
    if (waitingPoll.answer || !waitingPoll.line.endsWith('?wait=22'))
      throw new Error(`not waitingPoll: ${JSON.stringify(waitingPoll)}`)
    await limited.restart()
    return { waitingPoll, counts: await counts }
  } finally {
    await proxy.close()
  }
}

export function checkWaiting(scene: () => Scene, begun: () => LongWaits): void {
  longTest('stops at its time limit and leaves the job running', async () => {
    const job = await waitingJob(scene())
    const refusal = await scene().python.refusal('connect(url, key).job(job).result(timeout=1)', {
      ...scene().there,
      job
    })
    expect(refusal).toMatchObject({ type: 'TimeoutError' })
    expect(await scene().platform.job(job)).toMatchObject({ status: 'pending', cancel: null })
  })

  longTest(
    'survives a restart of the api: the waiting poll gets a response, and the next one reaches the new api',
    async () => {
      const { waitingPoll, counts } = await begun().restarted
      expect(waitingPoll.answer).toMatchObject({ status: 200, body: expect.stringContaining('"status":"pending"') })
      expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(100)
    },
    150_000
  )

  longTest('keeps its connection during the longest pause between two polls', async () => {
    const [before, after] = await begun().kept
    expect(after).toEqual(before)
  })

  longTest(
    'lets a poll wait as long as requested, at most 22 s, and responds at once to an invalid wait',
    async () => {
      const polls = await begun().polls
      for (const { status, fields } of polls.flat()) {
        expect(status).toBe('pending')
        expect(fields).toEqual(['backend', 'created_at', 'estimated_cost_usd', 'id', 'result', 'status', 'updated_at'])
      }
      const seconds = polls.map((both) => Math.min(...both.map((poll) => poll.seconds)))
      for (const atOnce of seconds.slice(0, 4)) expect(atOnce).toBeLessThan(2)
      expect(seconds[4]).toBeGreaterThan(2.9)
      expect(seconds[4]).toBeLessThan(5)
      expect(seconds[5]).toBeGreaterThan(21.9)
      // The client cancels a poll 5 s after the wait that it requested.
      expect(seconds[5]).toBeLessThan(27)
    },
    120_000
  )
}
