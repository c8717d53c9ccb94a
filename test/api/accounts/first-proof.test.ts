// The first proof of an account's address ends the access that was given before: the account may have been prepared by
// a person who does not receive its mail.
import { afterAll, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { cookieOf, PASSWORD, startApi, type TestUser } from '../../support/api/api.js'
import { submission } from '../../support/jobs/builders.js'

const api = await startApi('first_proof')
const { db } = api.database
afterAll(() => api.close())

const NEW = 'the password of the owner'

/** An account whose creator has given access to it in every way. */
async function prepared() {
  const user = await api.signUpWithTeam()
  const { teamId } = user
  const shared = (await user.post('/api/teams', { name: 'Another team' })).body.id as string
  const friend = await api.signUp()
  await db.execute(sql`insert into members (team_id, user_id, role)
    values (${teamId}, ${friend.id}, 'admin'), (${shared}, ${friend.id}, 'admin')`)
  const keyOf = async (owner: TestUser, team_id: string) =>
    (await owner.post('/api/team/api-keys', { team_id, name: 'a key', tier: 'simulate', kind: 'live' })).body
      .key as string
  const keys = [await keyOf(user, teamId), await keyOf(user, shared), await keyOf(friend, teamId)]
  const friendsOwn = await keyOf(friend, shared)
  const hook = { team_id: teamId, url: 'https://hooks.example.org/jobs', events: ['job.completed'] }
  expect((await user.post('/api/team/webhooks', hook)).status).toBe(201)
  const invite = (by: TestUser, team_id: string, email: string) =>
    by.post('/api/team/invitations', { team_id, email, role: 'member' })
  await invite(user, teamId, 'one@example.org')
  await invite(friend, teamId, 'two@example.org')
  await invite(user, shared, 'three@example.org')
  await invite(friend, shared, 'four@example.org')
  return { user, friend, teamId, shared, keys, friendsOwn }
}

const answersTo = async (key: string) =>
  (await api.ask('GET', '/api/teams', undefined, { authorization: `Bearer ${key}` })).status
const pendingIn = (teams: string[]) =>
  db.execute<{ email: string }>(
    sql`select email from invitations where status = 'pending' and team_id::text = any(string_to_array(${teams.join()}, ','))`
  )
const proofsIn = async (owner: TestUser, teamId: string) =>
  (await owner.get(`/api/team/audit?team_id=${teamId}`)).body.entries.filter(
    ({ action }: { action: string }) => action === 'account.proved'
  )
const tokenIn = (path: string, to: string) =>
  new RegExp(`/${path}/([A-Za-z0-9_-]{43})`).exec(api.mails.findLast((mail) => mail.to === to)!.text)![1]!
const signIn = (email: string, password: string) => api.ask('POST', '/api/auth/sign-in', { email, password })

async function resetPassword(email: string): Promise<void> {
  await api.ask('POST', '/api/auth/forgot-password', { email })
  const token = tokenIn('reset-password', email)
  expect((await api.ask('POST', '/api/auth/reset-password', { token, password: NEW })).status).toBe(200)
}

test('what was prepared for later ends too: deferred jobs are cancelled, and stored credentials are deleted', async () => {
  const user = await api.signUpWithTeam()
  const { teamId } = user
  const secrets = { team_id: teamId, provider: 'ionq', secrets: { api_key: 'x'.repeat(32) } }
  expect((await user.post('/api/team/secrets', secrets)).status).toBe(201)
  const not_before = new Date(Date.now() + 20 * 86_400_000).toISOString()
  const deferred = await user.submit(submission({ not_before }))
  const other = await api.signUpWithTeam()
  const kept = await other.submit(submission({ not_before }))
  await resetPassword(user.email)
  expect(api.mails.findLast(({ to }) => to === user.email)!.text).toMatch(/stored\s+credentials/)
  const statuses = await db.execute(sql`select id, status from jobs where id in (${deferred}, ${kept})`)
  expect(Object.fromEntries(statuses.map(({ id, status }) => [id, status]))).toEqual({
    [deferred]: 'cancelled',
    [kept]: 'pending'
  })
  expect(await db.execute(sql`select 1 from team_secrets where team_id = ${teamId}`)).toHaveLength(0)
  const cookie = cookieOf(await signIn(user.email, NEW))
  const owner = { ...user, get: (path: string) => api.ask('GET', path, undefined, { cookie }) }
  expect(await proofsIn(owner, teamId)).toEqual([
    expect.objectContaining({ metadata: { ended: { credentials: 1, jobs: 2 } } })
  ])
})

test('a password reset that first proves the address ends keys, invitations, members and webhooks', async () => {
  const { user, friend, teamId, shared, keys, friendsOwn } = await prepared()
  for (const key of [...keys, friendsOwn]) expect(await answersTo(key)).toBe(200)
  await resetPassword(user.email)
  expect(await Promise.all([...keys, friendsOwn].map(answersTo))).toEqual([401, 401, 401, 200])
  const cookie = cookieOf(await signIn(user.email, NEW))
  const owner = { ...user, get: (path: string) => api.ask('GET', path, undefined, { cookie }) }
  const of = (what: string) => owner.get(`/api/team/${what}?team_id=${teamId}`)
  expect((await of('members')).body.members.map(({ user_id }: { user_id: string }) => user_id)).toEqual([user.id])
  expect((await of('webhooks')).body.webhooks).toEqual([])
  expect((await friend.get(`/api/team/members?team_id=${teamId}`)).status).toBe(404)
  // What others gave in teams that are not the account's own stays.
  expect((await pendingIn([teamId, shared])).map(({ email }) => email)).toEqual(['four@example.org'])
  expect((await friend.get(`/api/team/members?team_id=${shared}`)).body.members).toHaveLength(2)
  expect(await proofsIn(owner, teamId)).toEqual([
    expect.objectContaining({
      actor: `user:${user.id}`,
      metadata: { ended: { api_keys: 1, invitations: 2, jobs: 1, members: 1, webhooks: 1 } }
    })
  ])
  expect(await proofsIn(owner, shared)).toEqual([
    expect.objectContaining({ metadata: { ended: { api_keys: 1, invitations: 1 } } })
  ])
})

test('an invitation that first proves the address ends them too, and every other session', async () => {
  const { user, teamId, keys } = await prepared()
  const other = cookieOf(await signIn(user.email, PASSWORD))
  const host = await api.signUpWithTeam()
  await host.post('/api/team/invitations', { team_id: host.teamId, email: user.email, role: 'member' })
  expect((await user.post(`/api/invitations/${tokenIn('invitations', user.email)}/accept`)).status).toBe(200)
  expect(await Promise.all(keys.map(answersTo))).toEqual([401, 401, 401])
  expect((await user.get(`/api/team/members?team_id=${teamId}`)).body.members).toHaveLength(1)
  expect((await api.ask('GET', '/api/auth/session', undefined, { cookie: other })).status).toBe(401)
})

test('a later reset ends sessions alone', async () => {
  const { user, keys, teamId } = await prepared()
  await db.execute(sql`update users set email_verified_at = now() where id = ${user.id}`)
  await resetPassword(user.email)
  expect(await Promise.all(keys.map(answersTo))).toEqual([200, 200, 200])
  expect(await pendingIn([teamId])).toHaveLength(2)
})

test('the schedules of the personal team are paused, in the database and for Temporal', async () => {
  const user = await api.signUpWithTeam()
  const id = (await user.post('/api/capsules/create', { name: 'Bell', team_id: user.teamId })).body.capsule_id as string
  await db.execute(sql`insert into capsule_schedules (capsule_id, cron, timezone, paused, alert_emails, alert_on, created_by,
    applied_version) values (${id}, '0 4 * * *', 'UTC', false, '[]', '[]', ${user.id}, 1)`)
  await resetPassword(user.email)
  expect([...(await db.execute(sql`select paused, version, applied_version from capsule_schedules`))]).toEqual([
    { paused: true, version: 2, applied_version: 1 }
  ])
})
