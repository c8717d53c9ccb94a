// Invitations, from the mail to the membership.
import { afterAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { PASSWORD, startApi, type TestUser } from '../../support/api/api.js'

const api = await startApi('invitations')
const { db } = api.database
afterAll(() => api.close())

let addresses = 0
const newAddress = () => `invited-${++addresses}@example.org`

async function newTeam(name = 'Ion trap group') {
  const owner = await api.signUp()
  const { id } = (await owner.post('/api/teams', { name })).body
  return { id: id as string, owner }
}

/** The token of the newest mail to an address. */
function tokenFor(email: string): string {
  const mail = api.mails.findLast(({ to }) => to === email)
  return /\/invitations\/([A-Za-z0-9_-]{43})/.exec(mail!.text)![1]!
}

async function invite(owner: TestUser, teamId: string, email: string, role = 'member') {
  const answer = await owner.post('/api/team/invitations', { team_id: teamId, email, role })
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)])
  return { id: answer.body.id as string, token: tokenFor(email) }
}

const members = async (owner: TestUser, id: string) =>
  (await owner.get(`/api/team/members?team_id=${id}`)).body.members as { email: string; role: string }[]

describe('an invitation', () => {
  test('returns the invitation and mails a link that only the mail contains', async () => {
    const { id, owner } = await newTeam()
    const { email } = await api.signUp()
    await db.execute(sql`update users set email_verified_at = now() where email = ${email}`)
    const body = { team_id: id, email, role: 'admin', message: 'Come and see.' }
    const answer = await owner.post('/api/team/invitations', body)
    expect(answer.body).toEqual({
      id: expect.any(String),
      email,
      role: 'admin',
      status: 'pending',
      message: 'Come and see.',
      invited_by: owner.id,
      created_at: expect.any(String),
      expires_at: expect.any(String),
      can: { resend: true, change_role: true, cancel: true }
    })
    expect(Date.parse(answer.body.expires_at) - Date.parse(answer.body.created_at)).toBe(7 * 24 * 3600 * 1000)
    const mail = api.mails.findLast(({ to }) => to === email)!
    expect(mail.subject).toContain('Ion trap group')
    expect(mail.text).toContain('Come and see.')
    const token = tokenFor(email)
    expect(answer.text).not.toContain(token)
    const rows = await db.execute(
      sql`select invitations::text as text, encode(token_hash, 'escape') as hash from invitations`
    )
    for (const row of rows) expect(`${row.text} ${row.hash}`).not.toContain(token)
    expect((await owner.get(`/api/team/invitations?team_id=${id}`)).body.invitations).toEqual([answer.body])
  })

  test('to an unproved address carries no message, only the names', async () => {
    const { id, owner } = await newTeam()
    const unproved = (await api.signUp()).email
    for (const email of [newAddress(), unproved]) {
      const body = { team_id: id, email, role: 'member', message: 'You won, see evil.example' }
      expect((await owner.post('/api/team/invitations', body)).status).toBe(201)
      const mail = api.mails.findLast(({ to }) => to === email)!
      expect(mail.subject).toBe('Invitation to a team on Quantum Job Service')
      expect(mail.text).toContain('the team "Ion trap group"')
      expect(`${mail.text} ${mail.html}`).not.toMatch(/won,|evil/)
    }
  })

  test('to a member, or to an address with a pending invitation in any case, is 400', async () => {
    const { id, owner } = await newTeam()
    const email = newAddress()
    await invite(owner, id, email)
    for (const [address, message] of [
      [email.toUpperCase(), 'pending invitation'],
      [owner.email.toUpperCase(), 'already belongs']
    ]) {
      const answer = await owner.post('/api/team/invitations', { team_id: id, email: address, role: 'member' })
      expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining(message!)])
    }
  })

  test.each([
    [{ role: 'owner' }],
    [{ email: 'nobody' }],
    [{ email: 'a@example.org\r\nBcc: b@example.org' }],
    [{ message: 'x'.repeat(501) }],
    [{ team_id: undefined }],
    [{ status: 'accepted' }]
  ])('with %j is 400, and nothing is mailed', async (changes) => {
    const { id, owner } = await newTeam()
    const before = api.mails.length
    const body = { team_id: id, email: newAddress(), role: 'member', ...changes }
    expect((await owner.post('/api/team/invitations', body)).status).toBe(400)
    expect(api.mails).toHaveLength(before)
  })

  test('ten times at once with one address creates one invitation', async () => {
    const { id, owner } = await newTeam()
    const body = { team_id: id, email: newAddress(), role: 'member' }
    const answers = await Promise.all(Array.from({ length: 10 }, () => owner.post('/api/team/invitations', body)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(400)])
  })
})

describe('an invitation link', () => {
  test('shows team, role and address without a session, and makes the invited person a member', async () => {
    const { id, owner } = await newTeam()
    const bob = await api.signUp()
    const { token } = await invite(owner, id, bob.email.toUpperCase(), 'admin')
    expect((await api.ask('GET', `/api/invitations/${token}`)).body).toEqual({
      team: { id, name: 'Ion trap group' },
      role: 'admin',
      email: bob.email.toUpperCase(),
      expires_at: expect.any(String)
    })
    const accepted = await bob.post(`/api/invitations/${token}/accept`)
    expect([accepted.status, accepted.body]).toEqual([200, { team_id: id, role: 'admin' }])
    expect(await members(owner, id)).toContainEqual(expect.objectContaining({ email: bob.email, role: 'admin' }))
    expect((await api.ask('GET', `/api/invitations/${token}`)).status).toBe(404)
    expect((await bob.post(`/api/invitations/${token}/accept`)).status).toBe(404)
  })

  test('can be used only by the owner of its address', async () => {
    const { id, owner } = await newTeam()
    const { token } = await invite(owner, id, newAddress())
    const eve = await api.signUp()
    expect((await eve.post(`/api/invitations/${token}/accept`)).status).toBe(403)
    expect(await members(owner, id)).toHaveLength(1)
    expect((await api.ask('GET', `/api/invitations/${token}`)).status).toBe(200)
  })

  test('lets a new user sign up without an access code and join the team at once', async () => {
    const { id, owner } = await newTeam()
    const email = newAddress()
    const { token } = await invite(owner, id, email)
    const body = { email, password: PASSWORD, invitation_token: token }
    expect((await api.ask('POST', '/api/auth/sign-up', { ...body, email: newAddress() })).status).toBe(400)
    expect((await api.ask('POST', '/api/auth/sign-up', { ...body, code: 'both' })).status).toBe(400)
    expect((await api.ask('POST', '/api/auth/sign-up', body)).status).toBe(201)
    expect(await members(owner, id)).toContainEqual(expect.objectContaining({ email, role: 'member' }))
    expect((await api.ask('POST', '/api/auth/sign-up', { ...body, email: newAddress() })).status).toBe(404)
  })

  test('accepted by ten requests at once makes one member', async () => {
    const { id, owner } = await newTeam()
    const bob = await api.signUp()
    const { token } = await invite(owner, id, bob.email)
    const answers = await Promise.all(Array.from({ length: 10 }, () => bob.post(`/api/invitations/${token}/accept`)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(404)])
    expect(await members(owner, id)).toHaveLength(2)
  })

  test.each([
    ['that expired a second ago', sql`update invitations set expires_at = now() - interval '1 second' where id = `],
    ['of a cancelled invitation', sql`update invitations set status = 'cancelled' where id = `]
  ])('%s is refused', async (_what, end) => {
    const { id, owner } = await newTeam()
    const bob = await api.signUp()
    const invited = await invite(owner, id, bob.email)
    await db.execute(sql`${end}${invited.id}`)
    expect((await api.ask('GET', `/api/invitations/${invited.token}`)).status).toBe(404)
    expect((await bob.post(`/api/invitations/${invited.token}/accept`)).status).toBe(404)
    // The address can be invited again.
    await invite(owner, id, bob.email)
  })

  test('to a suspended team cannot be accepted during the suspension', async () => {
    const { id, owner } = await newTeam()
    const bob = await api.signUp()
    const { token } = await invite(owner, id, bob.email)
    await db.execute(sql`update teams set suspended_at = now() where id = ${id}`)
    const answer = await bob.post(`/api/invitations/${token}/accept`)
    expect([answer.status, answer.body.code]).toEqual([403, 'TEAM_SUSPENDED'])
    await db.execute(sql`update teams set suspended_at = null where id = ${id}`)
    expect((await bob.post(`/api/invitations/${token}/accept`)).status).toBe(200)
  })

  test('does not change the role of a person who has become a member in the meantime', async () => {
    const { id, owner } = await newTeam()
    const bob = await api.signUp()
    const { token } = await invite(owner, id, bob.email)
    await db.execute(sql`insert into members (team_id, user_id, role) values (${id}, ${bob.id}, 'admin')`)
    await bob.post(`/api/invitations/${token}/accept`)
    expect(await members(owner, id)).toContainEqual(expect.objectContaining({ email: bob.email, role: 'admin' }))
  })
})

describe('a pending invitation', () => {
  test('that is sent again has a new link for seven days, and the old link is invalid', async () => {
    const { id, owner } = await newTeam()
    const bob = await api.signUp()
    const first = await invite(owner, id, bob.email)
    await db.execute(sql`update invitations set expires_at = now() + interval '1 minute' where id = ${first.id}`)
    const again = await owner.ask('PATCH', `/api/team/invitations/${first.id}`, { action: 'resend' })
    expect([again.status, again.body.id]).toEqual([200, first.id])
    expect(Date.parse(again.body.expires_at) - Date.now()).toBeGreaterThan(6.9 * 24 * 3600 * 1000)
    expect((await bob.post(`/api/invitations/${first.token}/accept`)).status).toBe(404)
    expect((await bob.post(`/api/invitations/${tokenFor(bob.email)}/accept`)).status).toBe(200)
    expect((await owner.ask('PATCH', `/api/team/invitations/${first.id}`, { action: 'resend' })).status).toBe(409)
  })

  test('can get another role, which applies when it is accepted', async () => {
    const { id, owner } = await newTeam()
    const bob = await api.signUp()
    const invited = await invite(owner, id, bob.email)
    const changed = await owner.ask('PATCH', `/api/team/invitations/${invited.id}`, { role: 'admin' })
    expect(changed.body.role).toBe('admin')
    expect((await bob.post(`/api/invitations/${invited.token}/accept`)).body.role).toBe('admin')
  })

  test.each([
    [{}],
    [{ role: 'owner' }],
    [{ action: 'accept' }],
    [{ action: 'resend', role: 'admin' }],
    [{ email: 'x@y.z' }]
  ])('is not changed by %j', async (body) => {
    const { id, owner } = await newTeam()
    const invited = await invite(owner, id, newAddress())
    expect((await owner.ask('PATCH', `/api/team/invitations/${invited.id}`, body)).status).toBe(400)
  })

  test('can be cancelled once, and is no longer listed', async () => {
    const { id, owner } = await newTeam()
    const invited = await invite(owner, id, newAddress())
    expect((await owner.ask('DELETE', `/api/team/invitations/${invited.id}`)).body).toEqual({ success: true })
    expect((await owner.ask('DELETE', `/api/team/invitations/${invited.id}`)).status).toBe(409)
    expect((await owner.get(`/api/team/invitations?team_id=${id}`)).body.invitations).toEqual([])
  })

  test('that is accepted and cancelled at once is either accepted or cancelled', async () => {
    const { id, owner } = await newTeam()
    for (let round = 0; round < 5; round++) {
      const bob = await api.signUp()
      const invited = await invite(owner, id, bob.email)
      const [accepted, cancelled] = await Promise.all([
        bob.post(`/api/invitations/${invited.token}/accept`),
        owner.ask('DELETE', `/api/team/invitations/${invited.id}`)
      ])
      const isMember = (await members(owner, id)).some(({ email }) => email === bob.email)
      expect([accepted.status, cancelled.status]).toEqual(isMember ? [200, 409] : [404, 200])
    }
  })
})
