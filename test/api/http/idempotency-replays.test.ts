// Repeated requests: which response they get, who gets it, and which limits they count against.
import { afterAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { removeOutdated } from '../../../db/deletion/retention.js'
import { rateLimits } from '../../../domain/teams/rate-limits.js'
import { PASSWORD, startApi, type TestApi } from '../../support/api/api.js'
import { isReplay, jobsOf, keptOf, keyed, newKey, send, statusesOf, submit, times } from '../../support/api/keyed.js'
import { eventually } from '../../support/eventually.js'
import { throwFailure } from '../../support/failures.js'
import { submission } from '../../support/jobs/builders.js'
import { forceStatus } from '../../support/jobs/rows.js'

const api = await startApi('idempotency_replays')
const url = await api.listen()
afterAll(() => api.close())

describe('rate limits', () => {
  const limited = async (name: string, limits = rateLimits, work: (api: TestApi) => Promise<void>) => {
    const own = await startApi(`idempotency_${name}`, { limits })
    await work(own).finally(() => own.close())
  }

  test('do not count a replay, and count a request that only resembles one', () =>
    limited('replays', rateLimits, async (own) => {
      const ada = await own.signUp()
      const key = newKey()
      const ask = (changes = {}) => submit(ada, key, changes)
      expect((await ask()).status).toBe(201)
      expect(statusesOf(await times(30, () => ask()))).toEqual(Array(30).fill(201))
      const conflicts = await times(12, () => ask({ name: 'another' }))
      expect(statusesOf(conflicts)).toEqual([...Array(9).fill(409), ...Array(3).fill(429)])
      // The limit is used up, and a replay is still accepted.
      expect((await ada.post('/api/jobs/submit', submission())).status).toBe(429)
      expect((await ask()).status).toBe(201)
    }))

  test('count each of many refused requests that share a key', () =>
    limited('refused', rateLimits, async (own) => {
      const ada = await own.signUp()
      const key = newKey()
      await times(10, () => submit(ada, key, { params: { shots: 0 } }))
      // Refused requests count once they have finished, and each of these counts too.
      let probes = 0
      await eventually(async () => {
        probes++
        return (await submit(ada, newKey(), { params: { shots: 0 } })).status === 429
      })
      expect(probes).toBeLessThan(5)
    }))

  test('of a team count the recorded jobs, and refuse a retry once the limit is reached', () =>
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

describe('the caller of a repeated request', () => {
  test('has Idempotency-Keys of its own: another user or API key can use the same value', async () => {
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

  test('needs valid credentials and membership of the team to get the stored response', async () => {
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

  test('gets the stored response after leaving or deleting the team with that very request', async () => {
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
  test('is the first response, whatever has happened to the job since', async () => {
    const ada = await api.signUp()
    const [submitted, reran, cancelled] = [newKey(), newKey(), newKey()]
    const first = await submit(ada, submitted)
    const id = first.body.job_id
    const path = { rerun: `/api/jobs/${id}/rerun`, cancel: `/api/jobs/${id}/cancel` }
    const rerun = () => ada.ask('POST', path.rerun, undefined, keyed(reran))
    const cancel = () => ada.ask('POST', path.cancel, undefined, keyed(cancelled))
    const [again, ended] = [await rerun(), await cancel()]
    expect([again.status, ended.status]).toEqual([201, 202])
    await forceStatus(api.database.db, id, { status: 'completed' })
    expect((await submit(ada, submitted)).text).toBe(first.text)
    expect((await rerun()).text).toBe(again.text)
    const replayed = await cancel()
    expect([replayed.status, replayed.text, isReplay(replayed)]).toEqual([202, ended.text, true])
    // A request with a new key gets a new response.
    expect((await ada.ask('POST', path.cancel, undefined, keyed(newKey()))).status).toBe(409)
    expect(await jobsOf(ada)).toBe(2)
  })

  test('of a cancel requires neither a body nor a Content-Type', async () => {
    const ada = await api.signUp()
    const id = await ada.submit(submission())
    const key = newKey()
    const ask = async () => {
      const response = await fetch(`${url}/api/jobs/${id}/cancel`, {
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

  test('requires the same bytes, method and path', async () => {
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
    const answers = await times(6, () => send(url, ada, '/api/team/invitations', body, key))
    expect(statusesOf(answers)).toEqual(Array(6).fill(201))
    expect(api.mails.length - before).toBe(1)
  })

  test('contains no secret that is shown once, and neither does the database', async () => {
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
        { id: first.body.id, [field]: null, message: expect.stringContaining('was shown once, in the first response') }
      ])
      expect(JSON.stringify(await keptOf(api.database.db, key))).not.toContain(first.body[field])
    }
    expect((await ada.get('/api/team/api-keys')).body.api_keys).toHaveLength(1)
  })

  test('is deleted with the account', async () => {
    const ada = await api.signUp()
    const key = newKey()
    expect((await ada.ask('PATCH', '/api/profile', { bio: 'of my own' }, keyed(key))).status).toBe(200)
    expect(await keptOf(api.database.db, key)).toBeDefined()
    expect((await ada.ask('DELETE', '/api/profile', { password: PASSWORD })).status).toBe(200)
    expect(await keptOf(api.database.db, key)).toBeUndefined()
  })

  test('is available for two days, and then the key can be used again', async () => {
    const ada = await api.signUp()
    const key = newKey()
    const first = await submit(ada, key)
    const age = (hours: number) =>
      api.database.db.execute(
        sql`update idempotency_keys set created_at = now() - make_interval(hours => ${hours}) where key = ${key}`
      )
    await age(47)
    await removeOutdated(api.database.db, throwFailure)
    expect((await submit(ada, key)).text).toBe(first.text)
    await age(49)
    await removeOutdated(api.database.db, throwFailure)
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
  // Reads ignore the key.
  expect((await ada.ask('GET', '/api/jobs', undefined, keyed('x'.repeat(300)))).status).toBe(200)
})

test('a failure after the commit does not change the response', async () => {
  const ada = await api.signUpWithTeam()
  const { job_id: id } = (await ada.post('/api/jobs/submit', submission())).body
  const { announce } = api.deps
  api.deps.announce = () => {
    throw new Error('broken on purpose')
  }
  try {
    expect((await ada.post(`/api/jobs/${id}/cancel`)).status).toBe(202)
  } finally {
    api.deps.announce = announce
  }
})

test('writes without a key are independent and cost no more', async () => {
  const ada = await api.signUp()
  const answers = await times(5, () => ada.post('/api/jobs/submit', submission()))
  expect(new Set(answers.map(({ body }) => body.job_id)).size).toBe(5)
  const [kept] = await api.database.db.execute(
    sql`select count(*)::int as count from idempotency_keys where principal = ${`user:${ada.id}`}`
  )
  expect(kept!.count).toBe(0)
})
