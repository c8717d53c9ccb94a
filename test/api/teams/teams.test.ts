// Teams and their members: roles, transfer, leaving, and that a team always has exactly one owner.
import { afterAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { startApi, type TestUser } from '../../support/api/api.js'
import { submission } from '../../support/jobs/builders.js'
import { forceStatus } from '../../support/jobs/rows.js'

const api = await startApi('teams')
const { db } = api.database
afterAll(() => api.close())

/** A new team with one person in each role. */
async function newTeam() {
  const [owner, admin, member] = [await api.signUp(), await api.signUp(), await api.signUp()]
  const { id } = (await owner.post('/api/teams', { name: 'Ion trap group' })).body
  for (const [user, role] of [
    [admin, 'admin'],
    [member, 'member']
  ] as const)
    await db.execute(sql`insert into members (team_id, user_id, role) values (${id}, ${user.id}, ${role})`)
  return { id: id as string, owner, admin, member }
}

const roles = async (asker: TestUser, teamId: string): Promise<Record<string, string>> => {
  const { body } = await asker.get(`/api/team/members?team_id=${teamId}`)
  return Object.fromEntries(body.members.map((one: { user_id: string; role: string }) => [one.user_id, one.role]))
}

describe('a team', () => {
  test('belongs to its creator and has the given name', async () => {
    const ada = await api.signUp()
    const made = await ada.post('/api/teams', { name: '  Ion trap group ' })
    expect([made.status, made.body]).toEqual([
      201,
      {
        id: expect.any(String),
        name: 'Ion trap group',
        role: 'owner',
        suspended: false,
        suspended_reason: null,
        can: expect.objectContaining({ rename: true, leave: expect.stringContaining('The owner cannot leave') })
      }
    ])
    expect((await ada.get('/api/teams')).body).toEqual({ teams: [made.body] })
    expect((await ada.ask('PATCH', `/api/teams/${made.body.id}`, { name: 'Qubits' })).body.name).toBe('Qubits')
  })

  test('that gets ten names at once has one of them', async () => {
    const { id, owner, admin } = await newTeam()
    const names = Array.from({ length: 10 }, (_, n) => `Name ${n}`)
    const answers = await Promise.all(
      names.map((name, n) => (n % 2 ? owner : admin).ask('PATCH', `/api/teams/${id}`, { name }))
    )
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 200))
    const [team] = (await owner.get('/api/teams')).body.teams.filter((one: { id: string }) => one.id === id)
    expect(names).toContain(team.name)
  })

  test.each([{}, { name: '' }, { name: ' ' }, { name: 'x'.repeat(101) }, { name: 'x', owner_id: 'y' }])(
    'is not created from %j',
    async (body) => {
      expect((await (await api.signUp()).post('/api/teams', body)).status).toBe(400)
    }
  )

  test('can be deleted by its owner once no job is under way, and its keys are revoked at once', async () => {
    const { id, owner, member } = await newTeam()
    const key = (await owner.post('/api/team/api-keys', { team_id: id, name: 'k', tier: 'qpu', kind: 'live' })).body.key
    const job = await owner.submit(submission({ team_id: id, not_before: new Date(Date.now() + 3.6e6).toISOString() }))
    const refused = await owner.ask('DELETE', `/api/teams/${id}`)
    expect([refused.status, refused.body.error]).toEqual([409, expect.stringContaining('have not finished')])
    await forceStatus(db, job, { status: 'completed' })
    expect((await owner.ask('DELETE', `/api/teams/${id}`)).status).toBe(200)
    expect((await member.get(`/api/team/members?team_id=${id}`)).status).toBe(404)
    expect((await owner.get(`/api/jobs/${job}`)).status).toBe(404)
    expect((await api.ask('GET', '/api/jobs', undefined, { authorization: `Bearer ${key}` })).status).toBe(401)
  })
})

describe('members', () => {
  test('are shown with their display name or the local part of their address, in the order of joining', async () => {
    const { id, owner, admin, member } = await newTeam()
    await owner.ask('PATCH', '/api/profile', { display_name: 'Ada' })
    const { body } = await member.get(`/api/team/members?team_id=${id}`)
    expect(body).toEqual({
      team_id: id,
      members: [
        expect.objectContaining({ user_id: owner.id, name: 'Ada', role: 'owner', email: owner.email }),
        expect.objectContaining({ user_id: admin.id, name: admin.email.split('@')[0], role: 'admin' }),
        expect.objectContaining({ user_id: member.id, role: 'member', joined_at: expect.stringMatching(/Z$/) })
      ]
    })
  })

  test('of a caller without a team are an empty list', async () => {
    const { status, body } = await (await api.signUp()).get('/api/team/members')
    expect([status, body]).toEqual([200, { team_id: null, members: [] }])
  })

  test('can get another role from the owner and from admins', async () => {
    const { id, admin, member } = await newTeam()
    const path = `/api/team/members/${member.id}`
    const raised = await admin.ask('PATCH', path, { team_id: id, role: 'admin' })
    expect([raised.status, raised.body.role, raised.body.user_id]).toEqual([200, 'admin', member.id])
    expect((await member.ask('PATCH', `/api/team/members/${admin.id}`, { team_id: id, role: 'member' })).status).toBe(
      200
    )
    expect((await admin.ask('PATCH', path, { team_id: id, role: 'member' })).status).toBe(403)
  })

  test.each([
    ['the role owner', { role: 'owner' }, 400],
    ['no role', { role: undefined }, 400],
    ['no team', { team_id: undefined }, 400],
    ['another field', { user_id: 'x' }, 400]
  ])('cannot be given %s', async (_what, changes, status) => {
    const { id, owner, member } = await newTeam()
    const body = { team_id: id, role: 'admin', ...changes }
    expect((await owner.ask('PATCH', `/api/team/members/${member.id}`, body)).status).toBe(status)
  })

  test('cannot demote or remove the owner, and the owner cannot leave', async () => {
    const { id, owner, admin } = await newTeam()
    const path = `/api/team/members/${owner.id}`
    for (const asker of [admin, owner]) {
      expect((await asker.ask('PATCH', path, { team_id: id, role: 'member' })).status).toBe(403)
      expect((await asker.ask('DELETE', path, { team_id: id })).status).toBe(403)
    }
    expect((await owner.post(`/api/teams/${id}/leave`)).status).toBe(403)
    expect((await roles(owner, id))[owner.id]).toBe('owner')
  })

  test('can be removed by the owner and admins, and can leave', async () => {
    const { id, owner, admin, member } = await newTeam()
    expect((await admin.ask('DELETE', `/api/team/members/${admin.id}`, { team_id: id })).status).toBe(403)
    expect((await admin.ask('DELETE', `/api/team/members/${member.id}`, { team_id: id })).body).toEqual({
      success: true
    })
    expect((await admin.ask('DELETE', `/api/team/members/${member.id}`, { team_id: id })).status).toBe(404)
    expect((await admin.post(`/api/teams/${id}/leave`)).body).toEqual({ success: true })
    expect(await roles(owner, id)).toEqual({ [owner.id]: 'owner' })
  })

  test('of one team cannot be changed through the id of another', async () => {
    const [mine, theirs] = [await newTeam(), await newTeam()]
    const path = `/api/team/members/${theirs.member.id}`
    expect((await mine.owner.ask('DELETE', path, { team_id: mine.id })).status).toBe(404)
    expect((await mine.owner.ask('DELETE', path, { team_id: theirs.id })).status).toBe(404)
    expect((await roles(theirs.owner, theirs.id))[theirs.member.id]).toBe('member')
  })
})

describe('ownership', () => {
  test('can go to another member, and the old owner stays as an admin', async () => {
    const { id, owner, member } = await newTeam()
    expect((await owner.post(`/api/teams/${id}/transfer`, { user_id: member.id })).body.role).toBe('admin')
    expect(await roles(owner, id)).toMatchObject({ [owner.id]: 'admin', [member.id]: 'owner' })
    expect((await owner.post(`/api/teams/${id}/transfer`, { user_id: owner.id })).status).toBe(403)
  })

  test('cannot go to a non-member, and a transfer to oneself changes nothing', async () => {
    const { id, owner } = await newTeam()
    expect((await owner.post(`/api/teams/${id}/transfer`, { user_id: (await api.signUp()).id })).status).toBe(404)
    expect((await owner.post(`/api/teams/${id}/transfer`, { user_id: owner.id })).body.role).toBe('owner')
  })

  test('of a personal team can be given away, and the old owner gets a new one at the next write', async () => {
    const { owner, member } = await newTeam()
    await owner.submit(submission())
    const [personal] = (await owner.get('/api/teams')).body.teams.filter((team: { name: string }) =>
      team.name.startsWith(owner.email)
    )
    await db.execute(sql`insert into members (team_id, user_id, role) values (${personal.id}, ${member.id}, 'member')`)
    await owner.post(`/api/teams/${personal.id}/transfer`, { user_id: member.id })
    const job = await owner.submit(submission())
    const { team_id } = (await owner.get(`/api/jobs/${job}`)).body
    expect(team_id).not.toBe(personal.id)
    expect((await roles(owner, team_id))[owner.id]).toBe('owner')
  })

  test('is held by exactly one member during ten simultaneous transfers, demotions and removals', async () => {
    const { id, owner, admin, member } = await newTeam()
    let over = false
    let looks = 0
    const watch = (async () => {
      while (!over) {
        const [row] = await db.execute(
          sql`select count(*) filter (where role = 'owner')::int as owners from members where team_id = ${id}`
        )
        expect(row!.owners).toBe(1)
        looks++
      }
    })()
    const people = [owner, admin, member]
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, round) =>
        people.flatMap((asker) => [
          asker.post(`/api/teams/${id}/transfer`, { user_id: people[round % 3]!.id }),
          asker.ask('PATCH', `/api/team/members/${people[(round + 1) % 3]!.id}`, { team_id: id, role: 'member' }),
          asker.ask('PATCH', `/api/team/members/${people[(round + 2) % 3]!.id}`, { team_id: id, role: 'admin' })
        ])
      ).flat()
    )
    over = true
    await watch
    expect(looks).toBeGreaterThan(0)
    for (const { status, text } of answers) expect([text, [200, 403, 404].includes(status)]).toEqual([text, true])
    const [row] = await db.execute(sql`select count(*)::int as members from members where team_id = ${id}`)
    expect(row!.members).toBe(3)
  })
})

test('two simultaneous first submissions create one personal team', async () => {
  for (let round = 0; round < 5; round++) {
    const ada = await api.signUp()
    const jobs = await Promise.all(Array.from({ length: 8 }, () => ada.submit(submission())))
    expect(new Set(jobs).size).toBe(8)
    expect((await ada.get('/api/teams')).body.teams).toEqual([
      expect.objectContaining({ name: `${ada.email}'s Team`, role: 'owner' })
    ])
  }
})
