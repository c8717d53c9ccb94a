// The specified rate limits, from the view of a user of the public client.
import { expect, test } from '@jest/globals'
import { bellQasm3 } from '../support/jobs/builders.js'
import { longTest } from '../support/lane.js'
import type { Scene } from './scene.js'

export function checkLimits(scene: () => Scene): void {
  longTest(
    'the eleventh submission of a minute is RateLimited with whole seconds, and no other request of the caller is',
    async () => {
      const names = { url: scene().limited.url, key: await scene().newKey('simulate'), code: bellQasm3() }
      const { jobs, refused, polled } = await scene().python.run<{
        jobs: string[]
        refused: { code: string; message: string; retry_after: unknown; whole: boolean; after: number }[]
        polled: string[]
      }>(
        `
      client = connect(url, key)
      jobs, refused = [], []
      for _ in range(12):
          asked = time.monotonic()
          try:
              jobs.append(client.submit(code, backend="local", framework="openqasm", shots=10))
              if len(jobs) == 1:
                  taken = time.monotonic()
          except RateLimited as error:
              refused.append({
                  "code": error.code, "message": error.message, "retry_after": error.retry_after,
                  "whole": type(error.retry_after) is int, "after": asked - taken,
              })
      jobs[0].result(60, poll_interval=0.1)
      # More than a minute has of other reads.
      polled = [jobs[0].status() for _ in range(120)]
      return {"jobs": [job.id for job in jobs], "refused": refused, "polled": sorted(set(polled))}
      `,
        names
      )
      expect(new Set(jobs).size).toBe(10)
      expect(refused).toHaveLength(2)
      for (const { code, message, retry_after, whole, after } of refused) {
        expect({ code, whole }).toEqual({ code: 'rate_limited', whole: true })
        // The first slot is free a minute after it was taken, before its response: refused requests do not delay that.
        expect(retry_after).toBeGreaterThan(0)
        expect(retry_after).toBeLessThanOrEqual(Math.ceil(60 - after) + 2)
        expect(message).toContain(`0/10 requests remaining. Try again in ${retry_after} seconds.`)
      }
      expect(polled).toEqual(['completed'])
    },
    150_000
  )

  test('a repeated request whose response is stored counts against no limit', async () => {
    const names = { url: scene().limited.url, key: await scene().newKey('simulate'), code: bellQasm3() }
    const answered = await scene().python.run(
      `
      body = {"backend": "local", "params": {"shots": 10}, "inline_code": code, "framework": "openqasm"}
      submit = lambda: connect(url, key)._transport.request(
          "POST", "/api/jobs/submit", json=body, idempotent_write=True, idempotency_key="one submission"
      )
      return sorted({submit()["job_id"] for _ in range(15)})
      `,
      names
    )
    expect(answered).toHaveLength(1)
  })
}
