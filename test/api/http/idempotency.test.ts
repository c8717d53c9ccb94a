// Repeated requests: from clients that lost a response, twenty at once, at two APIs, and after a refusal.
import { createServer } from 'node:http'
import { connect as connectSocket } from 'node:net'
import { afterAll, afterEach, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import postgres from 'postgres'
import { rateLimits } from '../../../domain/teams/rate-limits.js'
import { type ApiResponse, startApi } from '../../support/api/api.js'
import { type HeldSubmissions, holdSubmissions } from '../../support/api/held-submissions.js'
import { isReplay, jobsOf, keptOf, keyed, newKey, send, statusesOf, submit, times } from '../../support/api/keyed.js'
import { eventually } from '../../support/eventually.js'
import { submission } from '../../support/jobs/builders.js'
import { longTest } from '../../support/lane.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('idempotency')
const api = await startApi('idempotency', { database })
/** Another process of the same service. */
const second = await startApi('idempotency', { database, poolMax: 8 })
const urls = [await api.listen(), await second.listen()]
afterAll(async () => {
  await Promise.all([api.close(), second.close()])
  await database.drop()
})

const hold = (work: (submissions: HeldSubmissions) => Promise<void>) => holdSubmissions(database.url, work)
/** The number of transactions that wait for another's key. */
const waitingForKeys = async (count: number): Promise<void> => {
  await eventually(async () => {
    const waiting = await database.sql`select 1 from pg_locks join pg_stat_activity using (pid)
      where not granted and locktype = 'transactionid' and datname = current_database()`
    return waiting.length === count
  })
}

afterEach(async () => {
  await database.db.execute(sql`drop trigger if exists break_it on outbox`)
})

describe('twenty requests at once with one key', () => {
  test('that are equal create one job, get one response, and take one slot', async () => {
    const limited = await startApi('idempotency_limits', { limits: rateLimits })
    const url = await limited.listen()
    try {
      const ada = await limited.signUp()
      const key = newKey()
      const answers = await times(20, () => send(url, ada, '/api/jobs/submit', submission(), key))
      expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
      expect(answers[0]!.status).toBe(201)
      expect(answers.filter(isReplay)).toHaveLength(19)
      expect(await jobsOf(ada)).toBe(1)
      const more = await times(12, (at) => ada.post('/api/jobs/submit', submission({ name: `n${at}` })))
      expect(statusesOf(more)).toEqual([...Array(9).fill(201), ...Array(3).fill(429)])
    } finally {
      await limited.close()
    }
  })

  test('that differ create one job, and nineteen are refused', async () => {
    const ada = await api.signUp()
    const key = newKey()
    const answers = await times(20, (at) =>
      send(urls[0]!, ada, '/api/jobs/submit', submission({ name: `n${at}` }), key)
    )
    expect(statusesOf(answers)).toEqual([201, ...Array(19).fill(409)])
    expect(answers.find(({ status }) => status === 409)!.body.error).toContain('used before with another body')
    expect(await jobsOf(ada)).toBe(1)
  })

  test('at two APIs create one job', async () => {
    const ada = await api.signUp()
    for (let round = 0; round < 5; round++) {
      const key = newKey()
      const answers = await times(20, (at) => send(urls[at % 2]!, ada, '/api/jobs/submit', submission(), key))
      expect(new Set(answers.map(({ status, text }) => `${status} ${text}`))).toEqual(
        new Set([`201 ${answers[0]!.text}`])
      )
      expect(answers.filter(isReplay)).toHaveLength(19)
    }
    expect(await jobsOf(ada)).toBe(5)
  })

  test('that are refused are each refused separately', async () => {
    const ada = await api.signUp()
    const key = newKey()
    const answers = await times(8, () =>
      send(urls[0]!, ada, '/api/jobs/submit', submission({ team_id: '01890000-0000-7000-8000-000000000000' }), key)
    )
    expect(statusesOf(answers)).toEqual(Array(8).fill(404))
    expect(await keptOf(database.db, key)).toBeUndefined()
  })
})

describe('while the first request with a key is in progress,', () => {
  test('a duplicate waits for its response, at the same API and at another one', async () => {
    const ada = await api.signUpWithTeam()
    const key = newKey()
    let answers: Promise<ApiResponse[]>
    await hold(async ({ held }) => {
      answers = times(6, (at) => send(urls[at % 2]!, ada, '/api/jobs/submit', submission({ team_id: ada.teamId }), key))
      await held(1)
      // All three duplicates at the other API use one of its connections.
      await waitingForKeys(1)
      expect((await ada.get('/api/jobs')).status).toBe(200)
    })
    const given = await answers!
    expect(new Set(given.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect([given[0]!.status, given.filter(isReplay).length]).toEqual([201, 5])
  })

  test('at most a quarter of the connections wait for another API, and further duplicates get 503 at once', async () => {
    const ada = await api.signUpWithTeam()
    const some = Array.from({ length: 5 }, newKey)
    const ask = (url: string) =>
      times(5, (at) => send(url, ada, '/api/jobs/submit', submission({ team_id: ada.teamId }), some[at]!))
    let firsts: Promise<ApiResponse[]>
    let repeats: Promise<ApiResponse[]>
    await hold(async ({ held }) => {
      firsts = ask(urls[0]!)
      await held(5)
      const started = performance.now()
      const given: ApiResponse[] = []
      repeats = times(5, async (at) => {
        const answer = await send(urls[1]!, ada, '/api/jobs/submit', submission({ team_id: ada.teamId }), some[at]!)
        given.push(answer)
        return answer
      })
      await eventually(() => given.length === 3)
      // Those that wait do so for ten seconds.
      expect(performance.now() - started).toBeLessThan(9_000)
      expect(statusesOf(given)).toEqual([503, 503, 503])
      expect(given[0]!.headers['retry-after']).toBe('1')
      expect((await second.ask('GET', '/api/jobs', undefined, { cookie: ada.cookie })).status).toBe(200)
    })
    expect(statusesOf(await firsts!)).toEqual(Array(5).fill(201))
    expect(statusesOf(await repeats!)).toEqual([201, 201, 503, 503, 503])
    expect(statusesOf(await ask(urls[1]!))).toEqual(Array(5).fill(201))
    // In addition to the one that created the team.
    expect(await jobsOf(ada)).toBe(6)
  })

  longTest('no duplicate waits for longer than ten seconds', async () => {
    const ada = await api.signUp()
    const key = newKey()
    const other = postgres(database.url, { max: 1, onnotice: () => {} })
    const first = other.begin(async (tx) => {
      await tx`insert into idempotency_keys (principal, key, method, path, body_sha256, status, body)
        values (${`user:${ada.id}`}, ${key}, 'POST', '/x', 'x', 0, '')`
      const started = performance.now()
      const answers = await times(4, (at) => send(urls[at % 2]!, ada, '/api/jobs/submit', submission(), key))
      expect(answers.map(({ status, headers }) => [status, headers['retry-after']])).toEqual(Array(4).fill([503, '1']))
      const seconds = (performance.now() - started) / 1000
      expect(seconds).toBeGreaterThan(9)
      // The first one would hold the key for longer than this test may last.
      expect(seconds).toBeLessThan(60)
      throw new Error('died')
    })
    await expect(first).rejects.toThrow('died')
    await other.end()
    expect((await submit(ada, key)).status).toBe(201)
  })
})

describe('after a failure,', () => {
  test('a lost response is returned to the repeated request', async () => {
    const ada = await api.signUp()
    const key = newKey()
    const body = JSON.stringify(submission())
    const socket = connectSocket({ host: '127.0.0.1', port: Number(new URL(urls[0]!).port) })
    socket.on('error', () => {})
    socket.write(
      `POST /api/jobs/submit HTTP/1.1\r\nHost: x\r\nCookie: ${ada.cookie}\r\nIdempotency-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    )
    await eventually(async () => (await jobsOf(ada)) === 1)
    socket.destroy()
    const again = await submit(ada, key)
    expect([again.status, isReplay(again), await jobsOf(ada)]).toEqual([201, true, 1])
  })

  test('a proxy that drops every first response causes no second job', async () => {
    const ada = await api.signUp()
    const dropped = new Set<string>()
    const proxy = createServer(async (request, response) => {
      const parts: Buffer[] = []
      for await (const part of request) parts.push(part)
      const key = String(request.headers['idempotency-key'])
      const answer = await api.ask('POST', request.url!, Buffer.concat(parts), { cookie: ada.cookie, ...keyed(key) })
      if (!dropped.has(key)) {
        dropped.add(key)
        request.socket.destroy()
      } else response.writeHead(answer.status).end(answer.text)
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(proxy.address() as { port: number }).port}`
    try {
      const ids = await times(5, async () => {
        const key = newKey()
        const ask = () => send(url, ada, '/api/jobs/submit', submission(), key)
        return (await ask().catch(ask)).body.job_id
      })
      expect(new Set(ids).size).toBe(5)
      expect(await jobsOf(ada)).toBe(5)
    } finally {
      proxy.close()
    }
  })

  test('a lost database connection leaves nothing behind, and the repeated request creates the job', async () => {
    const ada = await api.signUpWithTeam()
    const key = newKey()
    const body = submission({ team_id: ada.teamId })
    let torn: Promise<ApiResponse>
    await hold(async ({ held, end }) => {
      torn = send(urls[0]!, ada, '/api/jobs/submit', body, key)
      await held(1)
      await end()
      expect((await torn).status).toBe(503)
    })
    expect(await keptOf(database.db, key)).toBeUndefined()
    const again = await eventually(async () => {
      const answer = await send(urls[0]!, ada, '/api/jobs/submit', body, key)
      return answer.status === 500 ? null : answer
    })
    expect([again.status, isReplay(again), await jobsOf(ada)]).toEqual([201, false, 2])
  })

  test('an internal error is not stored', async () => {
    const ada = await api.signUp()
    const key = newKey()
    await database.db.execute(sql`create or replace function break_it() returns trigger language plpgsql
      as $$ begin raise exception 'broken on purpose'; end $$`)
    await database.db.execute(sql`create trigger break_it before insert on outbox execute function break_it()`)
    expect((await submit(ada, key)).status).toBe(500)
    await database.db.execute(sql`drop trigger break_it on outbox`)
    const again = await submit(ada, key)
    expect([again.status, isReplay(again), await jobsOf(ada)]).toEqual([201, false, 1])
  })

  test('a refused body can be corrected under the same key', async () => {
    const ada = await api.signUp()
    const key = newKey()
    expect((await submit(ada, key, { params: { shots: 0 } })).status).toBe(400)
    expect((await ada.ask('POST', '/api/jobs/submit', '{"x":', keyed(key))).status).toBe(400)
    expect((await submit(ada, key)).status).toBe(201)
  })

  test("a refusal of the budget is not stored, and the team's webhook gets it", async () => {
    const ada = await api.signUpWithTeam()
    await ada.post('/api/team/webhooks', { url: 'https://hooks.example.org/', events: ['budget.exceeded'] })
    await ada.ask('PATCH', '/api/team/budget', { daily_usd: 0 })
    await database.db.execute(sql`update backends set task_fee_micro = 1000 where slug = 'aer-statevector'`)
    const key = newKey()
    const expensive = { backend: 'aer-statevector' }
    expect((await submit(ada, key, expensive)).status).toBe(402)
    expect((await submit(ada, key, expensive)).status).toBe(402)
    const told = await database.db.execute(sql`select 1 from webhook_deliveries d join webhooks w on w.id = d.webhook_id
      where w.team_id = ${ada.teamId} and d.event = 'budget.exceeded'`)
    expect(told).toHaveLength(1)
    await ada.ask('PATCH', '/api/team/budget', { daily_usd: 5 })
    const made = await submit(ada, key, expensive)
    expect([made.status, isReplay(made)]).toEqual([201, false])
    const again = await submit(ada, key, expensive)
    expect([again.text, isReplay(again)]).toEqual([made.text, true])
    expect((await ada.get('/api/team/budget')).body.day.reserved_usd).toBe(0.001)
  })
})
