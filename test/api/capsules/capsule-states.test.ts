// Who may do what with a capsule in each state: every combination of state, action and caller, written from the
// specification.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { createApiKey } from '../../../db/teams/api-keys.js'
import { type CapsuleState, capsuleStates } from '../../../domain/capsules/capsule-state.js'
import { type SendRequest, startApi, type TestUser } from '../../support/api/api.js'
import { addCapsuleOfJob, addDraftCapsule, addSealedCapsule } from '../../support/capsules/capsule-rows.js'
import type { Person } from '../../support/jobs/rows.js'

const api = await startApi('capsule_states')
const { db } = api.database
afterAll(() => api.close())

const callers = [
  'outsider',
  'former member',
  'member',
  'capsule owner',
  'team admin',
  'team owner',
  'capsule owner, team suspended',
  'read key of the capsule owner',
  'simulate key of the capsule owner',
  'simulate key of the team owner'
] as const
type CallerKind = (typeof callers)[number]

const members: CallerKind[] = [
  'member',
  'capsule owner',
  'team admin',
  'team owner',
  'simulate key of the capsule owner',
  'simulate key of the team owner'
]
const readers: CallerKind[] = [...members, 'capsule owner, team suspended', 'read key of the capsule owner']
const owner: CallerKind[] = ['capsule owner', 'simulate key of the capsule owner']
const managers: CallerKind[] = [...owner, 'team admin', 'team owner']

interface Action {
  method: string
  rest: string
  body?: unknown
  by: CallerKind[]
  in: readonly CapsuleState[]
  status: number
  isRead?: true
}

const actions: Record<string, Action> = {
  read: { method: 'GET', rest: '', by: readers, in: capsuleStates, status: 200, isRead: true },
  export: { method: 'GET', rest: '/export', by: readers, in: capsuleStates, status: 200, isRead: true },
  patch: { method: 'PATCH', rest: '', body: { name: 'Changed' }, by: owner, in: ['draft'], status: 200 },
  delete: { method: 'DELETE', rest: '', by: owner, in: ['draft', 'runnable'], status: 200 },
  // A draft without a run has no evidence: callers who may seal it get that message.
  seal: { method: 'POST', rest: '/seal', body: { exit_code: 0 }, by: managers, in: ['draft', 'runnable'], status: 200 },
  publish: {
    method: 'POST',
    rest: '/publish',
    body: { title: 'Bell', description: 'a pair' },
    by: managers,
    in: ['sealed'],
    status: 200
  },
  archive: { method: 'POST', rest: '/archive', by: managers, in: ['sealed'], status: 200 },
  schedule: {
    method: 'PUT',
    rest: '/schedule',
    body: { cron: '0 3 * * *', timezone: 'UTC', paused: true },
    by: managers,
    in: ['sealed', 'published'],
    status: 200
  },
  run: { method: 'POST', rest: '/run', body: { mode: 'template' }, by: members, in: capsuleStates, status: 201 },
  clone: { method: 'POST', rest: '/clone', body: { name: 'Clone' }, by: members, in: capsuleStates, status: 201 }
}

/** Actions that change the state or the content of the capsule. */
const changes = ['patch', 'delete', 'seal', 'publish', 'archive']

let carol: Person
let ofTeam: string
let ofSuspended: string
const asks = {} as Record<CallerKind, SendRequest>

beforeAll(async () => {
  const [boss, admin, member, capsuleOwner, outsider, former] = await Promise.all(
    Array.from({ length: 6 }, () => api.signUp())
  )
  carol = { userId: capsuleOwner!.id, email: capsuleOwner!.email }
  const makeTeam = async (name: string) => {
    const id = (await boss!.post('/api/teams', { name })).body.id as string
    for (const [user, role] of [
      [admin, 'admin'],
      [member, 'member'],
      [capsuleOwner, 'member']
    ] as const)
      await db.execute(sql`insert into members (team_id, user_id, role) values (${id}, ${user!.id}, ${role})`)
    return id
  }
  ofTeam = await makeTeam('Ours')
  ofSuspended = await makeTeam('Suspended')
  const keyed = async (user: TestUser, tier: 'read' | 'simulate'): Promise<SendRequest> => {
    const { key } = await createApiKey(db, {
      teamId: ofTeam,
      createdBy: user.id,
      name: 'k',
      tier,
      kind: 'live',
      dailyLimit: null,
      expiresAt: null
    })
    return (method, path, body) => api.ask(method, path, body, { authorization: `Bearer ${key}` })
  }
  Object.assign(asks, {
    outsider: outsider!.ask,
    'former member': former!.ask,
    member: member!.ask,
    'capsule owner': capsuleOwner!.ask,
    'team admin': admin!.ask,
    'team owner': boss!.ask,
    'capsule owner, team suspended': capsuleOwner!.ask,
    'read key of the capsule owner': await keyed(capsuleOwner!, 'read'),
    'simulate key of the capsule owner': await keyed(capsuleOwner!, 'simulate'),
    'simulate key of the team owner': await keyed(boss!, 'simulate')
  })
})

async function capsuleIn(state: CapsuleState, teamId: string): Promise<string> {
  if (state === 'draft') return addDraftCapsule(db, carol, teamId)
  if (state === 'runnable') return addCapsuleOfJob(db, carol, teamId)
  const then = { sealed: undefined, published: 'publish', archived: 'archive' } as const
  return addSealedCapsule(db, carol, teamId, then[state])
}

const kept = new Map<string, Promise<string>>()
/** One capsule, shared by all requests that do not change it. */
function sharedIn(state: CapsuleState, teamId: string): Promise<string> {
  const key = `${state} ${teamId}`
  const made = kept.get(key) ?? capsuleIn(state, teamId)
  kept.set(key, made)
  return made
}

const everything = async (id: string) => [
  ...(await db.execute(sql`select capsules.*, (select count(*)::int from capsule_runs where capsule_id = capsules.id) as runs,
    (select count(*)::int from audit_entries where capsule_id = capsules.id) as entries,
    (select count(*)::int from capsule_schedules where capsule_id = capsules.id) as schedules from capsules where id = ${id}`))
]

/** The response that the specification requires. */
function expected(caller: CallerKind, state: CapsuleState, name: string): [status: number, message: RegExp | null] {
  const action = actions[name]!
  const mayRead = readers.includes(caller)
  // Every user can clone a published capsule into a team of their own.
  if (name === 'clone' && state === 'published' && !mayRead) return [201, null]
  if (name === 'export' && state === 'published' && !mayRead) return [200, null]
  if (!mayRead) return [404, /^no such capsule$/]
  if (caller === 'read key of the capsule owner' && !action.isRead) return [403, /needs an API key of tier simulate/]
  if (caller === 'capsule owner, team suspended' && !action.isRead) return [403, /suspended/]
  if (!action.by.includes(caller)) return [403, /^Only the owner of a capsule/]
  if (!action.in.includes(state)) return [403, new RegExp(`^This capsule is ${state};`)]
  if (name === 'seal' && state === 'draft') return [400, /^evidence is missing/]
  return [action.status, null]
}

const messageOf = (body: { error?: string | { message: string } } | undefined): string =>
  typeof body?.error === 'string' ? body.error : (body?.error?.message ?? '')

test.each(capsuleStates.flatMap((state) => Object.keys(actions).map((name) => [state, name] as const)))(
  'a %s capsule gives every kind of caller the specified response to the action %s',
  async (state, name) => {
    const { method, rest, body } = actions[name]!
    const shared = await sharedIn(state, ofTeam)
    const suspended = await sharedIn(state, ofSuspended)
    await db.execute(sql`update teams set suspended_at = now() where id = ${ofSuspended}`)
    try {
      for (const caller of callers) {
        const [status, message] = expected(caller, state, name)
        const mutates = message === null && changes.includes(name)
        const id = caller.endsWith('suspended') ? suspended : mutates ? await capsuleIn(state, ofTeam) : shared
        const before = await everything(id)
        const answer = await asks[caller](method, `/api/capsules/${id}${rest}`, body)
        expect([caller, answer.status, answer.status < 300 ? '' : messageOf(answer.body)]).toEqual([
          caller,
          status,
          message === null ? '' : expect.stringMatching(message)
        ])
        if (message !== null) expect([caller, await everything(id)]).toEqual([caller, before])
      }
    } finally {
      await db.execute(sql`update teams set suspended_at = null where id = ${ofSuspended}`)
    }
  },
  60_000
)

const names = {
  patch: 'update',
  delete: 'delete',
  seal: 'seal',
  publish: 'publish',
  archive: 'archive',
  schedule: 'schedule',
  run: 'run',
  clone: 'clone'
} as const

test.each(capsuleStates)(
  '`can` of a %s capsule says of each action what the request would be answered',
  async (state) => {
    const [own, suspended] = [await capsuleIn(state, ofTeam), await capsuleIn(state, ofSuspended)]
    await db.execute(sql`update teams set suspended_at = now() where id = ${ofSuspended}`)
    try {
      for (const caller of readers) {
        const id = caller.endsWith('suspended') ? suspended : own
        const { can } = (await asks[caller]('GET', `/api/capsules/${id}`)).body
        for (const [name, shown] of Object.entries(names)) {
          const [, message] = expected(caller, state, name)
          expect([caller, name, can[shown]]).toEqual([
            caller,
            name,
            message === null ? true : expect.stringMatching(message)
          ])
          if (message === null) continue
          const { method, rest, body } = actions[name]!
          const refusal = await asks[caller](method, `/api/capsules/${id}${rest}`, body)
          expect([caller, name, can[shown]]).toEqual([caller, name, messageOf(refusal.body)])
        }
      }
    } finally {
      await db.execute(sql`update teams set suspended_at = null where id = ${ofSuspended}`)
    }
  }
)

test('`can` names what is missing for a verification, a schedule, its end and a back-fill, and an open run', async () => {
  const draft = await capsuleIn('draft', ofTeam)
  const canOf = async (id: string) => (await asks['capsule owner']('GET', `/api/capsules/${id}`)).body.can
  expect((await canOf(draft)).verify).toMatch(/^mode: only a capsule that was made from a job can be verified/)
  const sealed = await capsuleIn('sealed', ofTeam)
  expect(await canOf(sealed)).toMatchObject({
    verify: true,
    schedule: true,
    end_schedule: 'this capsule has no schedule',
    backfill: 'this capsule has no schedule'
  })
  await asks['capsule owner']('PUT', `/api/capsules/${sealed}/schedule`, { cron: '@daily' })
  expect(await canOf(sealed)).toMatchObject({ end_schedule: true, backfill: true })
  await asks['capsule owner']('POST', `/api/capsules/${draft}/run`, { mode: 'template' })
  expect((await canOf(draft)).delete).toMatch(/^The run .* has not finished/)
})

test('the record that answers a change, a seal, a publication or an archival says `can` as a read of it does', async () => {
  const ask = asks['capsule owner']
  const steps: [string, CapsuleState, string, string, object?][] = [
    ['change', 'draft', 'PATCH', '', { name: 'renamed' }],
    ['seal', 'runnable', 'POST', '/seal', { exit_code: 0 }],
    ['publication', 'sealed', 'POST', '/publish', { title: 'Title', description: 'For everyone' }],
    ['archival', 'sealed', 'POST', '/archive']
  ]
  for (const [name, state, method, rest, body] of steps) {
    const id = await capsuleIn(state, ofTeam)
    const answer = await ask(method, `/api/capsules/${id}${rest}`, body)
    expect([name, answer.status]).toEqual([name, 200])
    const { can } = (await ask('GET', `/api/capsules/${id}`)).body
    expect([name, answer.body.can]).toEqual([name, can])
    expect(can.clone).toBe(true)
  }
})

test("a former member can do nothing; the team's owner inherits their capsules", async () => {
  const id = await capsuleIn('draft', ofTeam)
  expect((await asks['team owner']('PATCH', `/api/capsules/${id}`, { name: 'x' })).status).toBe(403)
  await db.execute(sql`delete from members where team_id = ${ofTeam} and user_id = ${carol.userId}`)
  expect((await asks['capsule owner']('GET', `/api/capsules/${id}`)).status).toBe(404)
  expect((await asks['team admin']('DELETE', `/api/capsules/${id}`)).status).toBe(403)
  expect((await asks['team owner']('GET', `/api/capsules/${id}`)).body.can).toMatchObject({
    update: true,
    delete: true
  })
  expect((await asks['team admin']('GET', `/api/capsules/${id}`)).body.can.delete).toMatch(
    /^Only the owner of a capsule/
  )
  expect((await asks['team owner']('PATCH', `/api/capsules/${id}`, { name: 'x' })).status).toBe(200)
  expect((await asks['team owner']('DELETE', `/api/capsules/${id}`)).status).toBe(200)
})
