// Requests that are sent again: by clients that lost an answer, twenty at once, to two apis, after a refusal.
import { createServer } from 'node:http'
import { connect as connectSocket } from 'node:net'
import { afterAll, afterEach, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import postgres from 'postgres'
import { removeOutdated } from '../../db/retention.js'
import { rateLimits } from '../../domain/rate-limits.js'
import { type Answer, answerOf, type Headers, startApi, type TestApi, type TestUser } from '../support/api.js'
import { submission } from '../support/builders.js'
import { createTestDatabase } from '../support/database.js'
import { eventually } from '../support/eventually.js'
import { forceStatus } from '../support/rows.js'

const database = await createTestDatabase('idempotency')
const api = await startApi('idempotency', { database })
/** Another process of the same service. */
const second = await startApi('idempotency', { database, poolMax: 8 })
const urls = [await api.listen(), await second.listen()]
afterAll(async () => {
  await Promise.all([api.close(), second.close()])
  await database.drop()
})

let keys = 0
const newKey = () => `key ${++keys}`
const keyed = (key: string): Headers => ({ 'idempotency-key': key })
const times = <T>(count: number, ask: (at: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, at) => ask(at)))
const statusesOf = (answers: Answer[]) => answers.map(({ status }) => status).sort()
const isReplay = ({ headers }: Answer) => headers['idempotency-replayed'] === 'true'

/** Through a socket of its own. */
async function send(url: string, user: TestUser, path: string, body: unknown, key: string): Promise<Answer> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { cookie: user.cookie, 'content-type': 'application/json', ...keyed(key) },
    body: JSON.stringify(body)
  })
  return answerOf(response.status, Object.fromEntries(response.headers), await response.text())
}

const submit = (user: TestUser, key: string, changes = {}) =>
  user.ask('POST', '/api/jobs/submit', submission(changes), keyed(key))
const jobsOf = async (user: TestUser): Promise<number> => (await user.get('/api/jobs')).body.total

/** Keeps submissions from ending: they wait for a table on their last statement. */
async function hold(work: () => Promise<void>): Promise<void> {
  const other = postgres(database.url, { max: 1, onnotice: () => {} })
  try {
    await other.begin(async (tx) => {
      await tx`lock table outbox in share mode`
      await work()
    })
  } finally {
    await other.end()
  }
}
/** How many transactions wait for the table; others wait for theirs. */
const held = async (count: number, relation = true): Promise<void> => {
  await eventually(async () => {
    const waiting = await database.sql`select 1 from pg_locks join pg_stat_activity using (pid)
      where not granted and (locktype = 'relation') = ${relation} and datname = current_database()`
    return waiting.length === count
  })
}

afterEach(async () => {
  await database.db.execute(sql`drop trigger if exists break_it on outbox`)
})

describe('twenty at once', () => {
  test('that are alike make one job, have one answer, and take one slot', async () => {
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

  test('that differ make one job, and nineteen are told so', async () => {
    const ada = await api.signUp()
    const key = newKey()
    const answers = await times(20, (at) =>
      send(urls[0]!, ada, '/api/jobs/submit', submission({ name: `n${at}` }), key)
    )
    expect(statusesOf(answers)).toEqual([201, ...Array(19).fill(409)])
    expect(answers.find(({ status }) => status === 409)!.body.error).toContain('used before with another body')
    expect(await jobsOf(ada)).toBe(1)
  })

  test('at two apis make one job', async () => {
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

  test('whose first is refused are refused one after the other, each for itself', async () => {
    const ada = await api.signUp()
    const key = newKey()
    const answers = await times(8, () =>
      send(urls[0]!, ada, '/api/jobs/submit', submission({ team_id: '01890000-0000-7000-8000-000000000000' }), key)
    )
    expect(statusesOf(answers)).toEqual(Array(8).fill(404))
    expect(await keptOf(key)).toBeUndefined()
  })
})

describe('while the first is under way', () => {
  test('a duplicate waits for its answer, here and at another api', async () => {
    const ada = await api.signUpWithTeam()
    const key = newKey()
    let answers: Promise<Answer[]>
    await hold(async () => {
      answers = times(6, (at) => send(urls[at % 2]!, ada, '/api/jobs/submit', submission({ team_id: ada.teamId }), key))
      await held(1)
      // One connection of the other api, for all of its three.
      await held(1, false)
      expect((await ada.get('/api/jobs')).status).toBe(200)
    })
    const given = await answers!
    expect(new Set(given.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect([given[0]!.status, given.filter(isReplay).length]).toEqual([201, 5])
  })

  test('no more than a quarter of the connections wait for another api; the rest hear at once to come again', async () => {
    const ada = await api.signUpWithTeam()
    const some = Array.from({ length: 5 }, newKey)
    const ask = (url: string) =>
      times(5, (at) => send(url, ada, '/api/jobs/submit', submission({ team_id: ada.teamId }), some[at]!))
    let firsts: Promise<Answer[]>
    let repeats: Promise<Answer[]>
    await hold(async () => {
      firsts = ask(urls[0]!)
      await held(5)
      const started = performance.now()
      const given: Answer[] = []
      repeats = times(5, async (at) => {
        const answer = await send(urls[1]!, ada, '/api/jobs/submit', submission({ team_id: ada.teamId }), some[at]!)
        given.push(answer)
        return answer
      })
      await eventually(() => given.length === 3)
      expect(performance.now() - started).toBeLessThan(2_000)
      expect(statusesOf(given)).toEqual([503, 503, 503])
      expect(given[0]!.headers['retry-after']).toBe('1')
      expect((await second.ask('GET', '/api/jobs', undefined, { cookie: ada.cookie })).status).toBe(200)
    })
    expect(statusesOf(await firsts!)).toEqual(Array(5).fill(201))
    expect(statusesOf(await repeats!)).toEqual([201, 201, 503, 503, 503])
    expect(statusesOf(await ask(urls[1]!))).toEqual(Array(5).fill(201))
    // Beside the one that made the team.
    expect(await jobsOf(ada)).toBe(6)
  })

  test('nobody waits for longer than ten seconds', async () => {
    const ada = await api.signUp()
    const key = newKey()
    const other = postgres(database.url, { max: 1, onnotice: () => {} })
    await other
      .begin(async (tx) => {
        await tx`insert into idempotency_keys (principal, key, method, path, body_sha256, status, body)
          values (${`user:${ada.id}`}, ${key}, 'POST', '/x', 'x', 0, '')`
        const started = performance.now()
        const answers = await times(4, (at) => send(urls[at % 2]!, ada, '/api/jobs/submit', submission(), key))
        expect(answers.map(({ status, headers }) => [status, headers['retry-after']])).toEqual(
          Array(4).fill([503, '1'])
        )
        const seconds = (performance.now() - started) / 1000
        expect(seconds).toBeGreaterThan(9)
        expect(seconds).toBeLessThan(12)
        throw new Error('died')
      })
      .catch(() => {})
    await other.end()
    expect((await submit(ada, key)).status).toBe(201)
  }, 30_000)
})

describe('when it goes wrong', () => {
  test('an answer that is lost on the way is there for the second try', async () => {
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

  test('a proxy that drops every first answer costs nothing but time', async () => {
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

  test('a database that goes away in the middle leaves nothing, and the second try makes the job', async () => {
    const ada = await api.signUpWithTeam()
    const key = newKey()
    const body = submission({ team_id: ada.teamId })
    let torn: Promise<Answer>
    await hold(async () => {
      torn = send(urls[0]!, ada, '/api/jobs/submit', body, key)
      await held(1)
      await database.sql`select pg_terminate_backend(pid) from pg_locks where not granted and locktype = 'relation'`
      expect((await torn).status).toBe(500)
    })
    expect(await keptOf(key)).toBeUndefined()
    const again = await eventually(async () => {
      const answer = await send(urls[0]!, ada, '/api/jobs/submit', body, key)
      return answer.status === 500 ? null : answer
    })
    expect([again.status, isReplay(again), await jobsOf(ada)]).toEqual([201, false, 2])
  })

  test('a fault of the service is not remembered', async () => {
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

  test('a body that is refused, and then mended, may come under the same key', async () => {
    const ada = await api.signUp()
    const key = newKey()
    expect((await submit(ada, key, { params: { shots: 0 } })).status).toBe(400)
    expect((await ada.ask('POST', '/api/jobs/submit', '{"x":', keyed(key))).status).toBe(400)
    expect((await submit(ada, key)).status).toBe(201)
  })

  test('what the budget refuses is not remembered, and its team is told', async () => {
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

describe('limits', () => {
  const limited = async (name: string, limits = rateLimits, work: (api: TestApi) => Promise<void>) => {
    const own = await startApi(`idempotency_${name}`, { limits })
    await work(own).finally(() => own.close())
  }

  test('count no replay, but whatever only looks like one', () =>
    limited('replays', rateLimits, async (own) => {
      const ada = await own.signUp()
      const key = newKey()
      const ask = (changes = {}) => submit(ada, key, changes)
      expect((await ask()).status).toBe(201)
      expect(statusesOf(await times(30, () => ask()))).toEqual(Array(30).fill(201))
      const conflicts = await times(12, () => ask({ name: 'another' }))
      expect(statusesOf(conflicts)).toEqual([...Array(9).fill(409), ...Array(3).fill(429)])
      // The limit is used up, and a replay is let through all the same.
      expect((await ada.post('/api/jobs/submit', submission())).status).toBe(429)
      expect((await ask()).status).toBe(201)
    }))

  test('count each of many refused ones that share a key', () =>
    limited('refused', rateLimits, async (own) => {
      const ada = await own.signUp()
      const key = newKey()
      await times(10, () => submit(ada, key, { params: { shots: 0 } }))
      await eventually(async () => (await submit(ada, newKey(), { params: { shots: 0 } })).status === 429)
    }))

  test('of a team count the jobs that were recorded, and refuse a retry that comes too late for them', () =>
    limited('team', { ...rateLimits, submitTeam: { ...rateLimits.submitTeam, max: 2 } }, async (own) => {
      const ada = await own.signUpWithTeam()
      await ada.ask('PATCH', '/api/team/budget', { daily_usd: 0 })
      await own.database.db.execute(sql`update backends set task_fee_micro = 1000 where slug = 'aer-statevector'`)
      const key = newKey()
      for (let tries = 0; tries < 3; tries++)
        expect((await submit(ada, key, { backend: 'aer-statevector' })).status).toBe(402)
      const other = newKey()
      expect((await submit(ada, other)).status).toBe(201)
      expect((await submit(ada, other)).status).toBe(201)
      const late = await submit(ada, newKey())
      expect([late.status, late.body.error]).toEqual([429, expect.stringContaining('0/2 requests')])
    }))
})

describe('who asks', () => {
  test("a key is its sender's alone: another user's is another, and so is an API key's", async () => {
    const [ada, bob] = [await api.signUp(), await api.signUp()]
    const { key: apiKey } = (await ada.post('/api/team/api-keys', { name: 'k', tier: 'simulate', kind: 'live' })).body
    const key = newKey()
    const answers = [
      await submit(ada, key),
      await submit(bob, key),
      await api.ask('POST', '/api/jobs/submit', submission(), { authorization: `Bearer ${apiKey}`, ...keyed(key) })
    ]
    expect(statusesOf(answers)).toEqual([201, 201, 201])
    expect(answers.some(isReplay)).toBe(false)
    expect(new Set(answers.map(({ body }) => body.job_id)).size).toBe(3)
  })

  test('nobody without a credential, with an ended one, or who has left the team, is shown the answer again', async () => {
    const [ada, bob] = [await api.signUpWithTeam(), await api.signUp()]
    const given = { team_id: ada.teamId, email: bob.email, role: 'admin' }
    await ada.post('/api/team/invitations', given)
    await bob.post(`/api/invitations/${api.mails.at(-1)!.text.match(/invitations\/([\w-]+)/)![1]}/accept`)
    const key = newKey()
    const made = await submit(bob, key, { team_id: ada.teamId })
    expect(made.status).toBe(201)
    const asked = ['POST', '/api/jobs/submit', submission({ team_id: ada.teamId })] as const
    expect((await api.ask(...asked, keyed(key))).status).toBe(401)
    await ada.ask('DELETE', `/api/team/members/${bob.id}`, { team_id: ada.teamId })
    const after = await submit(bob, key, { team_id: ada.teamId })
    expect([after.status, isReplay(after)]).toEqual([404, false])
    expect(after.text).not.toContain(made.body.job_id)
  })

  test('whoever leaves a team, or deletes it, hears a second time that it is done', async () => {
    const [ada, bob] = [await api.signUpWithTeam(), await api.signUp()]
    await ada.post('/api/team/invitations', { team_id: ada.teamId, email: bob.email, role: 'member' })
    await bob.post(`/api/invitations/${api.mails.at(-1)!.text.match(/invitations\/([\w-]+)/)![1]}/accept`)
    for (const [user, method, path] of [
      [bob, 'POST', `/api/teams/${ada.teamId}/leave`],
      [ada, 'DELETE', `/api/teams/${(await ada.post('/api/teams', { name: 'Ours' })).body.id}`]
    ] as const) {
      const key = newKey()
      const [first, again] = [
        await user.ask(method, path, undefined, keyed(key)),
        await user.ask(method, path, undefined, keyed(key))
      ]
      expect([first.status, again.status, again.text, isReplay(again)]).toEqual([200, 200, '{"success":true}', true])
    }
  })
})

describe('a replay', () => {
  test('is the first answer, whatever has become of the job since', async () => {
    const ada = await api.signUp()
    const [submitted, reran, cancelled] = [newKey(), newKey(), newKey()]
    const first = await submit(ada, submitted)
    const id = first.body.job_id
    const path = { rerun: `/api/jobs/${id}/rerun`, cancel: `/api/jobs/${id}/cancel` }
    const rerun = () => ada.ask('POST', path.rerun, undefined, keyed(reran))
    const cancel = () => ada.ask('POST', path.cancel, undefined, keyed(cancelled))
    const [again, ended] = [await rerun(), await cancel()]
    expect([again.status, ended.status]).toEqual([201, 202])
    await forceStatus(database.db, id, { status: 'completed' })
    expect((await submit(ada, submitted)).text).toBe(first.text)
    expect((await rerun()).text).toBe(again.text)
    const replayed = await cancel()
    expect([replayed.status, replayed.text, isReplay(replayed)]).toEqual([202, ended.text, true])
    // What is asked anew is answered anew.
    expect((await ada.ask('POST', path.cancel, undefined, keyed(newKey()))).status).toBe(409)
    expect(await jobsOf(ada)).toBe(2)
  })

  test('of a cancel wants neither a body nor a Content-Type', async () => {
    const ada = await api.signUp()
    const id = await ada.submit(submission())
    const key = newKey()
    const ask = async () => {
      const response = await fetch(`${urls[0]}/api/jobs/${id}/cancel`, {
        method: 'POST',
        headers: { cookie: ada.cookie, 'content-length': '0', ...keyed(key) }
      })
      return [response.status, response.headers.get('idempotency-replayed')]
    }
    expect([await ask(), await ask()]).toEqual([
      [202, null],
      [202, 'true']
    ])
  })

  test('comes for the same bytes, method and path alone', async () => {
    const ada = await api.signUp()
    const key = newKey()
    const { job_id: id } = (await submit(ada, key)).body
    const spaced = await ada.ask('POST', '/api/jobs/submit', JSON.stringify(submission(), null, 1), keyed(key))
    expect([spaced.status, spaced.body.error]).toEqual([409, expect.stringContaining('with another body')])
    for (const path of [`/api/jobs/${id}/cancel`, '/api/jobs/submit?x=1']) {
      const answer = await ada.ask('POST', path, submission(), keyed(key))
      expect([answer.status, answer.body.error]).toEqual([409, expect.stringContaining('for POST /api/jobs/submit')])
    }
    const { key: apiKey } = (await ada.post('/api/team/api-keys', { name: 'k', tier: 'simulate', kind: 'live' })).body
    const asKey = (name: string) =>
      api.ask('POST', '/api/jobs/submit', submission({ name }), { authorization: `Bearer ${apiKey}`, ...keyed(key) })
    await asKey('one')
    expect((await asKey('two')).body.error).toMatchObject({ code: 'idempotency_conflict', status: 409 })
  })

  test('sends no mail a second time', async () => {
    const ada = await api.signUpWithTeam()
    const before = api.mails.length
    const key = newKey()
    const body = { team_id: ada.teamId, email: 'somebody@example.org', role: 'member' }
    const answers = await times(6, () => send(urls[0]!, ada, '/api/team/invitations', body, key))
    expect(statusesOf(answers)).toEqual(Array(6).fill(201))
    expect(api.mails.length - before).toBe(1)
  })

  test('holds no secret that is shown once, and neither does the database', async () => {
    const ada = await api.signUpWithTeam()
    for (const [path, body, field] of [
      ['/api/team/api-keys', { name: 'k', tier: 'read', kind: 'live' }, 'key'],
      ['/api/team/webhooks', { url: 'https://hooks.example.org/', events: ['job.failed'] }, 'secret']
    ] as const) {
      const key = newKey()
      const first = await ada.ask('POST', path, body, keyed(key))
      const again = await ada.ask('POST', path, body, keyed(key))
      expect([again.status, again.body]).toEqual([
        201,
        { id: first.body.id, [field]: null, message: expect.stringContaining('was shown once, in the first answer') }
      ])
      expect(JSON.stringify(await keptOf(key))).not.toContain(first.body[field])
    }
    expect((await ada.get('/api/team/api-keys')).body.api_keys).toHaveLength(1)
  })

  test('comes for two days; afterwards the key is new', async () => {
    const ada = await api.signUp()
    const key = newKey()
    const first = await submit(ada, key)
    const age = (hours: number) =>
      database.db.execute(
        sql`update idempotency_keys set created_at = now() - make_interval(hours => ${hours}) where key = ${key}`
      )
    await age(47)
    await removeOutdated(database.db)
    expect((await submit(ada, key)).text).toBe(first.text)
    await age(49)
    await removeOutdated(database.db)
    const anew = await submit(ada, key, { name: 'anew' })
    expect([anew.status, isReplay(anew)]).toEqual([201, false])
  })
})

test('a key has 1 to 255 characters of any kind', async () => {
  const ada = await api.signUp()
  for (const [key, status] of [
    ['', 400],
    ['x'.repeat(256), 400],
    ['x'.repeat(255), 201],
    ['\'; drop table jobs; -- " \\ %00 é', 201]
  ] as const) {
    const answer = await submit(ada, key)
    expect([key, answer.status]).toEqual([key, status])
    if (status === 400) expect(answer.body.error).toContain('Idempotency-Key: must have 1 to 255 characters')
  }
  // A read has nothing to repeat.
  expect((await ada.ask('GET', '/api/jobs', undefined, keyed('x'.repeat(300)))).status).toBe(200)
})

test('writes without a key are each for themselves, at the same cost as ever', async () => {
  const ada = await api.signUp()
  const answers = await times(5, () => ada.post('/api/jobs/submit', submission()))
  expect(new Set(answers.map(({ body }) => body.job_id)).size).toBe(5)
  const [kept] = await database.db.execute(
    sql`select count(*)::int as count from idempotency_keys where principal = ${`user:${ada.id}`}`
  )
  expect(kept!.count).toBe(0)
})

async function keptOf(key: string): Promise<Record<string, unknown> | undefined> {
  const [row] = await database.db.execute(sql`select * from idempotency_keys where key = ${key}`)
  return row
}
