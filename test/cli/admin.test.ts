// `qjob admin`, which works on the database alone and needs no running service.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { recordSweep } from '../../db/service/sweeps.js'
import { addHeldJob } from '../support/jobs/money-rows.js'
import { addJob, addPerson, addTeam, type Person } from '../support/jobs/rows.js'
import { longTest } from '../support/lane.js'
import { createTestDatabase, type TestDatabase } from '../support/stack/database.js'
import { type Ended, Shell } from './qjob.js'

let database: TestDatabase
let shell: Shell
let ada: Person
let teamId: string

beforeAll(async () => {
  database = await createTestDatabase('cli_admin')
  shell = new Shell({ DATABASE_URL: database.url })
  ada = await addPerson(database.db)
  teamId = await addTeam(database.db, ada)
  await database.db.execute(sql`update teams set name = ${'tea%m\u001b[31m red'} where id = ${teamId}`)
})

afterAll(async () => {
  shell?.remove()
  await database?.drop()
})

const admin = (...args: string[]): Promise<Ended> => shell.run(['admin', ...args])
const json = async (...args: string[]) => {
  const { code, stdout, stderr } = await admin(...args, '--json')
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout)
}
const audit = () => database.db.execute(sql`select actor_email, action, target, details from admin_actions order by id`)

test('suspending and unsuspending a team both return its record', async () => {
  const said = await admin('suspend', teamId, '--reason', 'unpaid bills')
  expect([said.code, said.stderr]).toEqual([0, ''])
  expect(said.stdout).toMatch(
    /^tea%m�\[31m red is read-only since \d{4}-\d\d-\d\d [\d:]{8} UTC; its running jobs continue\.\n$/
  )
  await expect(addJob(database.db, ada, { submission: { teamId } })).rejects.toMatchObject({ code: 'team_suspended' })
  expect(await json('suspend', teamId, '--reason', 'more of them')).toMatchObject({
    id: teamId,
    owner: { id: ada.userId, email: ada.email },
    members: 1,
    suspended: true,
    suspended_reason: 'more of them'
  })
  expect((await admin('unsuspend', teamId)).stdout).toBe('tea%m�[31m red is no longer suspended.\n')
  expect(await json('unsuspend', teamId)).toMatchObject({ id: teamId, suspended: false, suspended_at: null })
  await addJob(database.db, ada, { submission: { teamId } })
})

test('teams and users are listed and searched, in the shape of the API with --json', async () => {
  expect(await json('teams', '--q', 'TEA%')).toMatchObject({ teams: [{ id: teamId }], total: 1, limit: 50, offset: 0 })
  expect(await json('teams', '--q', 't%m')).toEqual({ teams: [], total: 0, limit: 50, offset: 0 })
  expect(await json('users', '--q', teamId)).toMatchObject({
    users: [{ id: ada.userId, email: ada.email, teams: 1, last_seen_at: null }],
    total: 1
  })
  const teams = (await admin('teams')).stdout
  expect(teams).toMatch(/^ID +NAME +OWNER +MEMBERS +STATE$/m)
  expect(teams).toMatch(new RegExp(`^${teamId} +tea%m�\\[31m red +${ada.email} +1 +active$`, 'm'))
  expect((await admin('users', '--q', ada.email)).stdout).toMatch(new RegExp(`^${ada.userId} +${ada.email} `, 'm'))
  expect((await admin('users', '--q', 'nobody-has-this')).stdout).toBe('No users.\n')
  await addPerson(database.db)
  expect((await admin('users', '--limit', '1')).stdout).toMatch(/\n\n1 to 1 of 2; more: --offset 1\n$/)
  expect((await admin('users', '--limit', '1', '--offset', '1')).stdout).toContain(ada.email)
})

test('access codes are listed with their remaining uses', async () => {
  expect((await admin('list-codes')).stdout).toBe('No access codes.\n')
  expect((await admin('create-code', '--uses', '4', '--code', 'spring')).code).toBe(0)
  expect(await json('list-codes')).toMatchObject({
    access_codes: [{ code: 'spring', remaining_uses: 4, expires_at: null }],
    total: 1
  })
  expect((await admin('list-codes')).stdout).toMatch(/^spring +4 +never +\d+ s ago$/m)
  const again = await admin('create-code', '--code', 'spring')
  expect([again.code, again.stderr]).toEqual([4, 'qjob: this access code already exists: choose another\n'])
})

test('an invalid id, reason or team is refused with the exit code for wrong usage or for a refusal', async () => {
  const none = '00000000-0000-4000-8000-000000000000'
  expect(await admin('suspend', none, '--reason', 'x')).toMatchObject({ code: 4, stderr: 'qjob: no such team\n' })
  expect(await admin('unsuspend', none)).toMatchObject({ code: 4, stderr: 'qjob: no such team\n' })
  for (const [args, message] of [
    [['suspend', 'ada', '--reason', 'x'], 'It must be the id of a team; qjob admin teams lists them.'],
    [['suspend', teamId], "required option '--reason <text>' not specified"],
    [['suspend', teamId, '--reason', ' '], 'It must have 1 to 500 characters.'],
    [['teams', '--limit', '101'], 'It must be a whole number from 1 to 100.']
  ] as const) {
    const { code, stderr } = await admin(...args)
    expect([args, code, stderr]).toEqual([args, 2, expect.stringContaining(message)])
  }
})

test('every change is in the audit log as made by the command line, and no refused change is', async () => {
  expect((await admin('grant', ada.email)).code).toBe(0)
  expect((await admin('grant', 'nobody@example.org')).code).toBe(4)
  const by = (action: string, target: string, details: unknown) => ({
    actor_email: 'command line',
    action,
    target,
    details
  })
  expect([...(await audit())]).toEqual([
    by('team.suspend', teamId, { reason: 'unpaid bills' }),
    by('team.suspend', teamId, { reason: 'more of them', previous_reason: 'unpaid bills' }),
    by('team.unsuspend', teamId, { reason: 'more of them', suspended_at: expect.stringMatching(/Z$/) }),
    by('access_code.create', 'spring', { uses: 4, expires_at: null }),
    by('user.grant', ada.email, { is_platform_admin: true })
  ])
})

longTest('held money is listed and settled once, and the ledger is shown like in the api', async () => {
  expect((await admin('money')).stdout).toBe('No money is held.\n\nThe ledger checks found no errors.\n')
  const held = await addHeldJob(database.db, ada, { cost: 4_000_000n, submission: { teamId } })
  await recordSweep(database.db, { name: 'money', periodSeconds: 60, error: null, handled: 0, findings: ['one cent'] })
  expect((await admin('money')).stdout).toMatch(
    new RegExp(
      `^\\$4\\.00 is held for 1 job\\.\nJOB .*\n${held} .* \\$4\\.00 .* checked at the provider\n\nErrors found by .*:\none cent\n$`
    )
  )
  expect(await json('money')).toMatchObject({
    held: [{ job_id: held, team_id: teamId, held_usd: 4 }],
    held_jobs: 1,
    proofs: { money: { findings: [{ message: 'one cent' }] } }
  })
  expect((await admin('settle', held, '4.5', '--note', 'a bill')).stdout).toBe(`${held} is settled at $4.50.\n`)
  expect((await audit()).at(-1)).toEqual({
    actor_email: 'command line',
    action: 'job.settle',
    target: held,
    details: { team_id: teamId, held_usd: 4, cost_usd: 4.5, note: 'a bill' }
  })
  expect((await admin('money')).stdout).toContain(`Actual cost above the reservation:\nJOB `)
  expect(await admin('settle', held, '4.5', '--note', 'again')).toMatchObject({
    code: 4,
    stderr: 'qjob: this job was settled before, with the same figure\n'
  })
  for (const [args, why] of [
    [['settle', 'x', '1', '--note', 'n'], 'It must be the id of a job'],
    [['settle', held, '-1', '--note', 'n'], 'It must be an amount in USD'],
    [['settle', held, '1.0000001', '--note', 'n'], 'at most 6 decimals'],
    [['settle', held, '1', '--note', ' '], 'It must have 1 to 500 characters'],
    [['settle', held, '1'], "required option '--note <text>' not specified"]
  ] as const) {
    const { code, stderr } = await admin(...args)
    expect([args, code]).toEqual([args, 2])
    expect(stderr).toContain(why)
  }
})
