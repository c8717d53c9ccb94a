// Waiting for a result with the public client: as long as it asks, over pauses, and over a restart of the service.
import { beforeAll, expect, test } from '@jest/globals'
import { submission } from '../support/builders.js'
import { eventually } from '../support/eventually.js'
import { startProxy } from './proxy.js'
import type { Scene } from './scene.js'

const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1000).toISOString()

/** Begins before the first test of the file, so that the others pass the time; the test itself awaits it. */
function begunBefore<T>(begin: () => Promise<T>): () => Promise<T> {
  let begun: Promise<T>
  beforeAll(() => {
    begun = begin()
    begun.catch(() => {})
  })
  return () => begun
}

export function checkWaiting(scene: () => Scene): void {
  const names = async (job: string) => ({ ...scene().there, job })
  const notBefore = (seconds: number) =>
    scene().platform.submit(submission({ team_id: scene().teamId, not_before: inSeconds(seconds) }))

  const polls = begunBefore(async () => {
    const job = await notBefore(3600)
    const poll = async (query: string): Promise<[seconds: number, status: unknown, fields: unknown]> =>
      scene().python.run(
        `
        began = time.monotonic()
        answer = requests.get(f"{url}/api/jobs/{job}/status{query}", headers={"Authorization": f"Bearer {key}"}).json()
        return [time.monotonic() - began, answer["status"], sorted(answer)]
        `,
        { ...(await names(job)), query }
      )
    return Promise.all(['', '?wait=abc', '?wait=-3', '?wait=', '?wait=3', '?wait=999'].map(poll))
  })

  const kept = begunBefore(async () =>
    scene().python.run<unknown[]>(
      `
      client = connect(url, key)
      polled = client.job(job)
      polled.status()
      before = socket_of(client, url)
      # The longest pause that the client makes between two polls.
      time.sleep(10.5)
      polled.status()
      return [before, socket_of(client, url)]
      `,
      await names(await notBefore(3600))
    )
  )

  test('gives up when its time is over, and leaves the job alone', async () => {
    const job = await notBefore(3600)
    const refusal = await scene().python.refusal('connect(url, key).job(job).result(timeout=1)', await names(job))
    expect(refusal).toMatchObject({ type: 'TimeoutError' })
    expect(await scene().platform.job(job)).toMatchObject({ status: 'pending', cancel: null })
  })

  test('outlives a restart of the api: the poll that is held is answered, and the next one finds the api again', async () => {
    const proxy = await startProxy(scene().limited.url)
    try {
      const job = await notBefore(5)
      // The pause after the client's second poll; those after the first and the third are 2 s and 8 s.
      const result = scene().python.run<object>(
        'return connect(url, key).job(job).result(120, poll_interval=4).counts',
        {
          ...(await names(job)),
          url: proxy.url
        }
      )
      const held = await eventually(() => proxy.requests[0] ?? null)
      expect(held).toMatchObject({ line: `GET /api/jobs/${job}/status?wait=22`, over: false })
      await scene().limited.restart()
      expect(held.over).toBe(true)
      expect(Object.keys(await result)).not.toEqual([])
    } finally {
      await proxy.close()
    }
  }, 60_000)

  test('keeps its connection over the longest pause between two polls', async () => {
    const [before, after] = await kept()
    expect(after).toEqual(before)
  })

  test('holds a poll for as long as it asks, 22 s at most, and answers one that asks for no number at once', async () => {
    const [none, word, negative, empty, three, most] = await polls()
    for (const [seconds] of [none!, word!, negative!, empty!]) expect(seconds).toBeLessThan(2)
    expect(three![0]).toBeGreaterThan(2.9)
    expect(three![0]).toBeLessThan(5)
    expect(most![0]).toBeGreaterThan(21.9)
    // The client gives a poll up 5 s after the wait that it asked for.
    expect(most![0]).toBeLessThan(27)
    for (const [, status, fields] of [none!, word!, negative!, empty!, three!, most!]) {
      expect(status).toBe('pending')
      expect(fields).toEqual(['backend', 'created_at', 'estimated_cost_usd', 'id', 'result', 'status', 'updated_at'])
    }
  }, 60_000)
}
