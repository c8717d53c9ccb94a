// Responses lost by the network: the public client retries with the key of its first request, and gets one job.
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { eventually } from '../support/eventually.js'
import { bellQasm3, slowQiskit } from '../support/jobs/builders.js'
import { longTest } from '../support/lane.js'
import { type LossyProxy, type PassedRequest, startProxy } from './proxy.js'
import type { Scene } from './scene.js'

export function checkRetries(scene: () => Scene): void {
  let proxy: LossyProxy
  let teamId: string
  let there: { url: string; key: string }

  beforeAll(async () => {
    proxy = await startProxy(scene().there.url)
    teamId = await scene().newTeam()
    there = { url: proxy.url, key: await scene().newKey('simulate', { team_id: teamId }) }
  })
  afterEach(() => {
    proxy.fates.length = 0
    proxy.requests.length = 0
  })
  afterAll(() => proxy.close())

  const submit = (): Promise<string> =>
    scene().python.run('return connect(url, key).submit(code, backend="local", framework="openqasm").id', {
      ...there,
      code: bellQasm3()
    })
  /** Runs the code and returns the jobs that it created. */
  const jobsOf = async (act: () => Promise<unknown>): Promise<number> => {
    const before = await scene().jobs(teamId)
    await act()
    return (await scene().jobs(teamId)) - before
  }
  /** Sends the same bytes again, like a caller who has recorded the key. */
  const again = async ({ line, headers, body }: PassedRequest, changed = body) => {
    const [method, path] = line.split(' ') as [string, string]
    const kept = ['authorization', 'content-type', 'idempotency-key'].map((name) => [name, headers[name] as string])
    const answer = await fetch(`${there.url}${path}`, { method, headers: Object.fromEntries(kept), body: changed })
    return { status: answer.status, body: (await answer.json()) as { job_id?: string; error?: { code: string } } }
  }

  describe('a submission creates one job', () => {
    test.each([502, 503, 504] as const)('when its response is lost and a proxy returns %i', async (status) => {
      proxy.fates.push({ status, when: 'after' })
      let id = ''
      expect(
        await jobsOf(async () => {
          id = await submit()
        })
      ).toBe(1)
      const keys = proxy.requests.map(({ key }) => key)
      expect(keys).toEqual([keys[0], keys[0]])
      expect(await scene().platform.ended(id)).toMatchObject({ status: 'completed', attempts: 1 })
    })

    longTest('when two responses are lost in a row', async () => {
      proxy.fates.push({ status: 502, when: 'after' }, { status: 504, when: 'after' })
      expect(await jobsOf(submit)).toBe(1)
      expect(proxy.requests).toHaveLength(3)
    })

    longTest('when the first request never arrived', async () => {
      proxy.fates.push({ status: 503, when: 'instead' })
      expect(await jobsOf(submit)).toBe(1)
    })

    longTest(
      'when a proxy times out while the first request is in progress, and the second waits for its response',
      async () => {
        proxy.fates.push({ status: 504, when: 'before' })
        const { sql } = scene().platform.connection
        let submitted: Promise<string>
        const made = await jobsOf(async () => {
          await sql.begin(async (held) => {
            await held`select id from teams where id = ${teamId} for update`
            submitted = submit()
            submitted.catch(() => {})
            // Both have arrived, and both wait for the team's lock.
            await eventually(() => proxy.requests.length === 2)
            expect(proxy.requests.map(({ answer }) => answer)).toEqual([null, null])
          })
          await submitted
        })
        expect(made).toBe(1)
        expect(proxy.requests).toHaveLength(2)
      }
    )

    test('when the connection breaks: the client exposes its key, and the same request returns the first response', async () => {
      proxy.fates.push('lost')
      let first = ''
      const made = await jobsOf(async () => {
        const refusal = await scene().python.refusal(
          'connect(url, key).submit(code, backend="local", framework="openqasm")',
          { ...there, code: bellQasm3() }
        )
        const lost = proxy.requests[0]!
        expect(refusal).toMatchObject({ type: 'TransportError', idempotency_key: lost.key })
        const answers = [await again(lost), await again(lost)]
        first = answers[0]!.body.job_id!
        expect(answers).toEqual(Array(2).fill({ status: 201, body: { job_id: first } }))
      })
      expect(made).toBe(1)
      expect(await scene().platform.ended(first)).toMatchObject({ status: 'completed', team_id: teamId })
    })
  })

  test('the key of one submission is refused for another', async () => {
    await submit()
    const [first] = proxy.requests
    const made = await jobsOf(async () => {
      const answer = await again(first!, first!.body.replace('1000', '999'))
      expect(answer).toMatchObject({ status: 409, body: { error: { code: 'idempotency_conflict' } } })
    })
    expect(made).toBe(0)
  })

  test('a refusal is not stored: the same key can be used again', async () => {
    await scene().ask('PATCH', '/api/admin/backends/aer-noisy', { status: 'offline' })
    const body = { backend: 'aer-noisy', params: { shots: 10 }, inline_code: bellQasm3(), framework: 'openqasm' }
    const code = `
      return connect(url, key)._transport.request(
          "POST", "/api/jobs/submit", json=body, idempotent_write=True, idempotency_key="mine"
      )["job_id"]
    `
    expect(await scene().python.refusal(code, { ...there, body })).toMatchObject({ code: 'backend_unavailable' })
    await scene().ask('PATCH', '/api/admin/backends/aer-noisy', { status: 'online' })
    expect(await jobsOf(() => scene().python.run(code, { ...there, body }))).toBe(1)
  })

  test('a cancel whose response is lost is repeated without an error', async () => {
    const code = `
      job = connect(url, key).submit(code, backend="local", framework="qiskit", shots=10)
      job.cancel()
      try:
          job.result(30, poll_interval=0.1)
      except JobFailed as error:
          return error.code
    `
    proxy.fates.push('pass', { status: 502, when: 'after' })
    expect(await scene().python.run(code, { ...there, code: slowQiskit(30) })).toBe('cancelled')
    const cancels = proxy.requests.filter(({ line }) => line.endsWith('/cancel'))
    expect(cancels).toHaveLength(2)
    expect(cancels[0]!.key).toBe(cancels[1]!.key)
  })

  longTest('a read is repeated after two failures of a proxy', async () => {
    proxy.fates.push({ status: 503, when: 'instead' }, 'lost')
    const code = 'return connect(url, key).platform_info().api_version'
    expect(await scene().python.run(code, { ...there })).toMatch(/^\d/)
  })
}
