// Passwords and sessions: a changed password, a reset by mail, and sessions ended from another session.
import { afterAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { cookieOf, PASSWORD, startApi, type TestUser } from '../../support/api/api.js'

const api = await startApi('passwords')
const { db } = api.database
afterAll(() => api.close())

const NEW = 'another correct horse'
const signIn = (email: string, password: string) => api.ask('POST', '/api/auth/sign-in', { email, password })
const lives = async (cookie: string) =>
  (await api.ask('GET', '/api/auth/session', undefined, { cookie })).status === 200

describe('changing the password', () => {
  test('needs the current password, ends every other session, and keeps this one', async () => {
    const ada = await api.signUp()
    const other = cookieOf(await signIn(ada.email, PASSWORD))
    const change = (password: string) => ada.post('/api/auth/change-password', { password, new_password: NEW })
    const wrong = await change('not the present one')
    expect([wrong.status, wrong.body.error]).toEqual([400, 'password: is not your present password'])
    expect(await lives(other)).toBe(true)
    expect((await change(PASSWORD)).body).toEqual({ success: true })
    expect([await lives(ada.cookie), await lives(other)]).toEqual([true, false])
    expect([(await signIn(ada.email, PASSWORD)).status, (await signIn(ada.email, NEW)).status]).toEqual([401, 200])
  })
})

describe('a forgotten password', () => {
  const forget = (email: string) => api.ask('POST', '/api/auth/forgot-password', { email })
  const reset = (token: string, password = NEW) => api.ask('POST', '/api/auth/reset-password', { token, password })

  async function tokenFor(user: TestUser): Promise<string> {
    await forget(user.email.toUpperCase())
    const mail = api.mails.findLast(({ to }) => to === user.email)!
    return /http:\/\/localhost\/reset-password\/([A-Za-z0-9_-]{43})/.exec(mail.text)![1]!
  }

  test('gets the same response for every address, and a mail only for an account', async () => {
    const ada = await api.signUp()
    const before = api.mails.length
    const [known, unknown] = [await forget(ada.email), await forget('nobody@example.org')]
    expect([known.status, known.text]).toEqual([202, '{"success":true}'])
    expect([unknown.status, unknown.text]).toEqual([known.status, known.text])
    expect(api.mails.slice(before).map(({ to }) => to)).toEqual([ada.email])
  })

  test('is replaced once with the mailed token, which ends every session', async () => {
    const ada = await api.signUp()
    const [first, second] = [await tokenFor(ada), await tokenFor(ada)]
    expect((await reset(second)).body).toEqual({ success: true })
    expect(await lives(ada.cookie)).toBe(false)
    expect([(await signIn(ada.email, PASSWORD)).status, (await signIn(ada.email, NEW)).status]).toEqual([401, 200])
    for (const used of [first, second]) expect((await reset(used)).status).toBe(400)
  })

  test('is replaced by exactly one of ten simultaneous requests with one token', async () => {
    const token = await tokenFor(await api.signUp())
    const answers = await Promise.all(Array.from({ length: 10 }, (_, at) => reset(token, `password number ${at}`)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(400)])
  })

  test('is not replaced with an expired or invented token, or by a short password', async () => {
    const ada = await api.signUp()
    const token = await tokenFor(ada)
    expect((await reset(token, 'short')).status).toBe(400)
    expect((await reset('A'.repeat(43))).status).toBe(400)
    await db.execute(sql`update password_resets set expires_at = now() - interval '1 second'`)
    const late = await reset(token)
    expect([late.status, late.body.error]).toEqual([400, expect.stringContaining('request a new link')])
    expect((await signIn(ada.email, PASSWORD)).status).toBe(200)
  })

  test('leaves no token in the database', async () => {
    const token = await tokenFor(await api.signUp())
    const rows = await db.execute(
      sql`select password_resets::text as text, encode(token_hash, 'escape') as hash from password_resets`
    )
    for (const row of rows) expect(`${row.text} ${row.hash}`).not.toContain(token)
  })

  test('gets a link to the configured address, whatever Host the request has', async () => {
    const ada = await api.signUp()
    await api.ask('POST', '/api/auth/forgot-password', { email: ada.email }, { host: 'evil.example' })
    const mail = api.mails.findLast(({ to }) => to === ada.email)!
    expect(`${mail.text} ${mail.html}`).not.toContain('evil')
  })
})

describe('sessions', () => {
  test('are listed without their tokens and with the current one marked, and can be ended one by one', async () => {
    const ada = await api.signUp()
    const other = cookieOf(
      await api.ask('POST', '/api/auth/sign-in', { email: ada.email, password: PASSWORD }, { 'user-agent': 'a phone' })
    )
    const { body, text } = await ada.get('/api/auth/sessions')
    expect(body.sessions).toEqual([
      expect.objectContaining({ user_agent: 'a phone', current: false }),
      expect.objectContaining({ current: true, created_at: expect.any(String), last_seen_at: expect.any(String) })
    ])
    expect(text).not.toContain(other.split('=')[1])
    expect((await ada.ask('DELETE', `/api/auth/sessions/${body.sessions[0].id}`)).status).toBe(204)
    expect([await lives(other), await lives(ada.cookie)]).toEqual([false, true])
    expect((await ada.get('/api/auth/sessions')).body.sessions).toHaveLength(1)
  })

  test('of another user cannot be ended', async () => {
    const [ada, eve] = [await api.signUp(), await api.signUp()]
    const [{ id }] = (await ada.get('/api/auth/sessions')).body.sessions
    expect((await eve.ask('DELETE', `/api/auth/sessions/${id}`)).status).toBe(404)
    expect(await lives(ada.cookie)).toBe(true)
  })
})
