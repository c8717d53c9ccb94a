// Deleting an account beside the work of other teams.
import { afterAll, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { deleteAccount } from '../../../db/deletion/account-deletion.js'
import { deleteTeam } from '../../../db/deletion/team-deletion.js'
import { requestCancel } from '../../../db/job-steps/job-steps.js'
import { teams } from '../../../db/tables/accounts.js'
import { fairTeamLock } from '../../../db/teams/team-lock.js'
import { eventually } from '../../support/eventually.js'
import { addKey, usd } from '../../support/jobs/money-rows.js'
import { addJob, addPerson, addTeam, type Person } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('account_deletion')
const { db } = database
afterAll(() => database.drop())

const someoneWaits = () =>
  eventually(async () => {
    const [row] = await db.execute(
      sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    )
    return row !== undefined
  })
const exists = async (userId: string) => {
  const [row] = await db.execute(sql`select 1 from users where id = ${userId}`)
  return row !== undefined
}

test('an account is deleted while writes of other teams are under way', async () => {
  const [leaving, other] = [await addPerson(db), await addPerson(db)]
  const own = await addTeam(db, leaving)
  for (let team = 0; team < 5; team++) await addTeam(db, other)
  await db.execute(sql`analyze teams, members`)
  await db.transaction(async (tx) => {
    await tx
      .select({ id: teams.id })
      .from(teams)
      .where(sql`${teams.id} <> ${own} and ${fairTeamLock('share')}`)
      .for('share')
    await deleteAccount(db, { ...leaving, key: null })
  })
  expect(await exists(leaving.userId)).toBe(false)
})

test.each<[string, (teamId: string, maker: Person) => Promise<unknown>]>([
  ["its key's team", (teamId) => db.transaction((own) => deleteTeam(own, teamId, 'system'))],
  ["its key's maker", (_teamId, maker) => deleteAccount(db, { ...maker, key: null })]
])('the settlement of a job and the deletion of %s cannot deadlock', async (_whose, remove) => {
  const [owner, maker] = [await addPerson(db), await addPerson(db)]
  const teamId = await addTeam(db, owner)
  const key = await addKey(db, maker, teamId, usd(20))
  const id = await addJob(db, owner, { cost: 5n, key, submission: { teamId } })
  await requestCancel(db, id)
  let deleting: Promise<unknown> = Promise.resolve()
  // In the order of a settlement: the job, then the day of its key.
  await db.transaction(async (tx) => {
    await tx.execute(sql`select 1 from jobs where id = ${id} for no key update`)
    deleting = remove(teamId, maker)
    await Promise.race([deleting, someoneWaits()])
    await tx.execute(sql`update api_key_days set reserved_micro = reserved_micro where key_id = ${key.id}`)
  })
  await deleting
  const [job] = await db.execute(sql`select api_key_id, status from jobs where id = ${id}`)
  expect(job).toEqual({ api_key_id: null, status: 'cancelled' })
})

test('a user with very many jobs is deleted by statements of at most 2,000 jobs each', async () => {
  const [leaving, owner] = [await addPerson(db), await addPerson(db)]
  const teamId = await addTeam(db, owner)
  await db.execute(sql`insert into members (team_id, user_id, role) values (${teamId}, ${leaving.userId}, 'member')`)
  const id = await addJob(db, leaving, { submission: { teamId } })
  await db.execute(sql`insert into jobs select (jsonb_populate_record(jobs, jsonb_build_object('id', gen_random_uuid(),
    'status', 'completed'))).* from jobs, generate_series(1, 2500) where jobs.id = ${id}`)
  await db.execute(
    sql.raw(`create function refuse_long_statement() returns trigger language plpgsql as $$
    begin if (select count(*) from changed) > 2000 then raise exception 'too long'; end if; return null; end $$`)
  )
  await db.execute(
    sql.raw(`create trigger refuse_long_statement after update on jobs referencing new table as changed
    for each statement execute function refuse_long_statement()`)
  )
  await deleteAccount(db, { ...leaving, key: null })
  expect(await exists(leaving.userId)).toBe(false)
  const [left] = await db.execute(
    sql`select count(*)::int as jobs from jobs where team_id = ${teamId} and user_id is null`
  )
  expect(left).toEqual({ jobs: 2_501 })
})
