// Rows are deleted when their retention is over, and no other rows.
import { afterAll, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { openSession } from '../../../db/accounts/accounts.js'
import { beginPasswordReset } from '../../../db/accounts/passwords.js'
import { removeOutdated } from '../../../db/deletion/retention.js'
import { loadAnalysis, storeAnalysis } from '../../../db/scripts/script-analyses.js'
import { invite } from '../../../db/teams/invitations.js'
import { throwFailure } from '../../support/failures.js'
import { addPerson, addTeam } from '../../support/jobs/rows.js'
import { addScript } from '../../support/jobs/script-rows.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('retention')
const { db } = database
afterAll(() => database.drop())

test('sessions, links, invitations and telemetry are deleted when their time is over, and kept one second before', async () => {
  const ada = await addPerson(db)
  const teamId = await addTeam(db, ada)
  const telemetry = () =>
    db.execute(sql`insert into playground_telemetry (id, team_id, session_id, simulator, qasm_input, shots, qubit_count, gate_count, execution_time_ms, counts)
      values (gen_random_uuid(), ${teamId}, 's', 'qulacs-wasm', 'x', 1, 1, 1, 1, '{}')`)
  for (let copy = 0; copy < 2; copy++) {
    await openSession(db, ada.userId, null)
    await beginPasswordReset(db, ada.email)
    await telemetry()
    const given = {
      teamId,
      email: `x${copy}@example.org`,
      role: 'member' as const,
      message: null,
      invitedBy: ada.userId
    }
    await db.transaction((tx) => invite(tx, given))
  }
  await openSession(db, ada.userId, null)
  const first = async (table: string, set: ReturnType<typeof sql>) => {
    const name = sql.identifier(table)
    await db.execute(sql`update ${name} set ${set} where ctid = (select ctid from ${name} limit 1)`)
  }
  const all = async (table: string, set: ReturnType<typeof sql>) =>
    db.execute(sql`update ${sql.identifier(table)} set ${set}`)
  await all('sessions', sql`revoked_at = now() - interval '29 days 23 hours'`)
  await first('sessions', sql`revoked_at = now() - interval '30 days 1 second'`)
  await all('password_resets', sql`expires_at = now() - interval '23 hours'`)
  await first('password_resets', sql`expires_at = now() - interval '1 day 1 second'`)
  await all('invitations', sql`expires_at = now() - interval '89 days'`)
  await first('invitations', sql`expires_at = now() - interval '90 days 1 second'`)
  await all('playground_telemetry', sql`created_at = now() - interval '89 days'`)
  await first('playground_telemetry', sql`created_at = now() - interval '90 days 1 second'`)

  expect(await removeOutdated(db, throwFailure)).toEqual({ removed: 4, more: false })
  const [left] = await db.execute(sql`select (select count(*)::int from sessions) as sessions,
    (select count(*)::int from password_resets) as resets, (select count(*)::int from invitations) as invitations,
    (select count(*)::int from playground_telemetry) as telemetry`)
  expect(left).toEqual({ sessions: 2, resets: 1, invitations: 1, telemetry: 1 })
  expect(await removeOutdated(db, throwFailure)).toEqual({ removed: 0, more: false })
})

test('a session in use is kept until it expires, however old it is', async () => {
  const ada = await addPerson(db)
  await openSession(db, ada.userId, null)
  await db.execute(
    sql`update sessions set created_at = now() - interval '29 days', last_seen_at = now() where user_id = ${ada.userId}`
  )
  expect((await removeOutdated(db, throwFailure)).removed).toBe(0)
})

test('an analysis is deleted after a week, and its script is kept', async () => {
  const ada = await addPerson(db)
  const teamId = await addTeam(db, ada)
  const scriptId = await addScript(db, { teamId, userId: ada.userId })
  const about = { scriptId, teamId, sourceSha256: 'x', backend: 'local', shots: 1, circuitCount: 1 }
  const told = () => storeAnalysis(db, { ...about, checks: [], cost: 0n, canRun: true })
  const [old, young] = [await told(), await told()]
  const age = (id: string, interval: string) =>
    db.execute(sql`update script_analyses set created_at = now() - ${interval}::interval where id = ${id}`)
  await age(old, '7 days 1 second')
  await age(young, '6 days 23 hours')
  expect((await removeOutdated(db, throwFailure)).removed).toBe(1)
  expect([await loadAnalysis(db, old), (await loadAnalysis(db, young))?.scriptId]).toEqual([null, scriptId])
})
