// What the database refuses every writer: states out of order, changes of sealed content, added files.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { postgresCode } from '../../../db/client.js'
import { deleteTeam } from '../../../db/deletion/team-deletion.js'
import { capsuleStates, capsuleTransitions } from '../../../domain/capsules/capsule-state.js'
import { addCapsuleOfJob, addDraftCapsule, addSealedCapsule } from '../../support/capsules/capsule-rows.js'
import { addPerson, addTeam, type Person } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('capsule_guards')
const { db } = database
afterAll(() => database.drop())

let owner: Person
let teamId: string
beforeAll(async () => {
  owner = await addPerson(db)
  teamId = await addTeam(db, owner)
})

const make = {
  draft: () => addDraftCapsule(db, owner, teamId),
  runnable: () => addCapsuleOfJob(db, owner, teamId),
  sealed: () => addSealedCapsule(db, owner, teamId),
  published: () => addSealedCapsule(db, owner, teamId, 'publish'),
  archived: () => addSealedCapsule(db, owner, teamId, 'archive')
}

/** `null` when the statement succeeds. */
const refusal = async (statement: ReturnType<typeof sql>): Promise<string | null> =>
  db.execute(statement).then(
    () => null,
    (error) => postgresCode(error)
  )
const REFUSED = '23514'

test("the database allows exactly the changes of a capsule's state that the table lists", async () => {
  for (const from of capsuleStates)
    for (const to of capsuleStates) {
      if (from === to) continue
      const id = await make[from]()
      const allowed = capsuleTransitions[from].includes(to)
      expect([from, to, await refusal(sql`update capsules set state = ${to} where id = ${id}`)]).toEqual([
        from,
        to,
        allowed ? null : REFUSED
      ])
    }
  expect(await refusal(sql`update capsules set state = 'lost' where id = ${await make.draft()}`)).toBe(REFUSED)
}, 60_000)

const kept = {
  team_id: sql`gen_random_uuid()`,
  name: sql`'other'`,
  description: sql`'other'`,
  tags: sql`'["other"]'`,
  definition: sql`'{"tasks":[]}'`,
  definition_sha256: sql`'other'`,
  backends: sql`'[]'`,
  max_budget_micro: sql`1`,
  retention_years: sql`1`,
  regulatory_framework: sql`'other'`,
  source_job_id: sql`gen_random_uuid()`,
  derived_from: sql`'other'`,
  imported: sql`'{}'`,
  created_at: sql`now() + interval '1 day'`
}

describe.each(['runnable', 'sealed', 'published', 'archived'] as const)('a %s capsule', (state) => {
  test('cannot be changed in any column of its content', async () => {
    const id = await make[state]()
    for (const [column, value] of Object.entries(kept))
      expect([
        column,
        await refusal(sql`update capsules set ${sql.identifier(column)} = ${value} where id = ${id}`)
      ]).toEqual([column, REFUSED])
    expect(await refusal(sql`update capsules set owner_id = null, updated_at = now() where id = ${id}`)).toBeNull()
  })
})

describe.each(['sealed', 'published', 'archived'] as const)('a %s capsule', (state) => {
  test('cannot be deleted, nor its files or its seal', async () => {
    const id = await make[state]()
    for (const [what, statement] of Object.entries({
      capsule: sql`delete from capsules where id = ${id}`,
      files: sql`delete from capsule_files where capsule_id = ${id}`,
      'a file': sql`update capsule_files set content = 'x' where capsule_id = ${id}`,
      'another file': sql`insert into capsule_files (capsule_id, name, sha256, size_bytes, media_type, content)
        values (${id}, 'x', 'x', 1, 'x', 'x')`,
      seal: sql`delete from capsule_seals where capsule_id = ${id}`,
      digest: sql`update capsule_seals set capsule_digest = 'x' where capsule_id = ${id}`,
      manifest: sql`update capsule_seals set manifest = '{}' where capsule_id = ${id}`
    }))
      expect([what, await refusal(statement)]).toEqual([what, REFUSED])
  })
})

test('the files of a runnable capsule cannot be changed', async () => {
  const id = await make.runnable()
  expect(await refusal(sql`update capsule_files set content = 'x' where capsule_id = ${id}`)).toBe(REFUSED)
})

describe('deleting a team', () => {
  const remove = (team: string) => db.transaction((tx) => deleteTeam(tx, team, 'system'))
  const capsulesOf = async (team: string) => {
    const [row] = await db.execute(sql`select count(*)::int as count from capsules where team_id = ${team}`)
    return row!.count
  }

  async function withSealed(retentionYears: number | null, sealedYearsAgo: number): Promise<string> {
    const person = await addPerson(db)
    const team = await addTeam(db, person)
    const id = await addSealedCapsule(db, person, team)
    // Bypasses the guards, since a capsule normally gets its retention before its seal.
    await db.transaction(async (tx) => {
      await tx.execute(sql`set local session_replication_role = replica`)
      await tx.execute(sql`update capsules set retention_years = ${retentionYears} where id = ${id}`)
      await tx.execute(sql`update capsule_seals set sealed_at = now() - make_interval(years => ${sealedYearsAgo})
        where capsule_id = ${id}`)
    })
    return team
  }

  test('is refused while a sealed capsule is within its retention, and the message names it', async () => {
    const team = await withSealed(7, 6)
    await expect(remove(team)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/"A Bell pair".* has to be kept until \d{4}-\d\d-\d\d/)
    })
    expect(await capsulesOf(team)).toBe(1)
  })

  test.each([
    ['whose retention is over', 7, 8],
    ['without a retention', null, 0]
  ])('deletes sealed capsules %s, and keeps the audit trail', async (_, years, ago) => {
    const team = await withSealed(years, ago)
    await remove(team)
    expect(await capsulesOf(team)).toBe(0)
    const [trail] = await db.execute(sql`select count(*)::int as count from audit_entries where team_id = ${team}`)
    // Created, sealed, and deleted with its team.
    expect(trail!.count).toBe(3)
    // The permission was limited to that transaction.
    expect(await refusal(sql`delete from capsules where id = ${await make.sealed()}`)).toBe(REFUSED)
  })
})
