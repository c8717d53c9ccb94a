// `qjob audit`, `qjob signing-keys` and `qjob admin rotate-signing-key`.
import { existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { writeCheckpoints } from '../../services/audit/audit-checkpointing.js'
import { readKeyRing } from '../../services/keys/key-ring.js'
import { startApi, type TestUser } from '../support/api/api.js'
import { addDraft, append, seal } from '../support/capsules/audit-trails.js'
import { Shell } from './qjob.js'

const ringText = `test:${Buffer.from('a ring key of 32 bytes for tests').toString('base64')}`
const api = await startApi('cli-audit', { keyRing: readKeyRing(ringText) })
const { db } = api.database
let shell: Shell
let owner: TestUser & { teamId: string }
let capsuleId: string
let file: string
beforeAll(async () => {
  owner = await api.signUpWithTeam()
  const key = await owner.post('/api/team/api-keys', { team_id: owner.teamId, name: 'k', tier: 'read', kind: 'live' })
  shell = new Shell({
    QJOB_URL: await api.listen(),
    QJOB_KEY: key.body.key,
    DATABASE_URL: api.database.url,
    SECRETS_KEYS: ringText
  })
  capsuleId = await addDraft(db, owner.teamId, owner.id)
  await seal(db, await api.deps.signer(), capsuleId)
  await append(db, { teamId: owner.teamId, capsuleId, actor: `user:${owner.id}` })
  file = join(shell.folder, '.data', 'audit-checkpoints.jsonl')
  mkdirSync(dirname(file))
  await writeCheckpoints(db, file)
})
afterAll(async () => {
  shell.remove()
  await api.close()
})

/** Makes a change that only the database's owner can make, and reverts it after the check. */
async function harmed<T>(harm: string, mend: string, look: () => Promise<T>): Promise<T> {
  const force = (statement: string) =>
    db.transaction(async (tx) => {
      await tx.execute(sql`set local session_replication_role = replica`)
      await tx.execute(sql.raw(statement))
    })
  await force(harm)
  return look().finally(() => force(mend))
}

describe('qjob audit', () => {
  test('list shows who did what', async () => {
    const { code, stdout } = await shell.run(['audit', 'list', '--capsule', capsuleId])
    expect(code).toBe(0)
    const lines = stdout.trimEnd().split('\n')
    expect(lines[0]).toMatch(/^NO +AT +ACTION +CAPSULE +BY +STATE/)
    expect(lines[2]).toMatch(new RegExp(`^ *2 .*capsule\\.sealed +${capsuleId} +user:.* draft -> sealed`))
    expect(lines).toHaveLength(4)
    const json = JSON.parse((await shell.run(['audit', 'list', '--json', '--limit', '1'])).stdout)
    expect(json).toMatchObject({ total: 3, entries: [{ seq: 3, actor: `user:${owner.id}` }] })
  })

  test("verify uses the service's report", async () => {
    expect(await shell.run(['audit', 'verify', '--team', owner.teamId])).toEqual({
      code: 0,
      stderr: '',
      stdout:
        'intact: 3 entries, signed up to entry 2, 1 sealed capsule unchanged\nNot compared with checkpoints outside the database: AUDIT_CHECKPOINTS_FILE is not set for the api\n'
    })
    const body = JSON.parse((await shell.run(['audit', 'verify', '--json'])).stdout)
    expect(body).toMatchObject({ ok: true, entries: 3, first_broken: null })
  })

  test('verify --database checks the database and the checkpoints outside it', async () => {
    const { code, stdout } = await shell.run(['audit', 'verify', '--database'])
    expect([code, stdout]).toEqual([
      0,
      `team ${owner.teamId}: intact: 3 entries, signed up to entry 2, 1 sealed capsule unchanged\nCheckpoints outside the database: ${file}\n`
    ])
    const json = JSON.parse((await shell.run(['audit', 'verify', '--database', '--json'])).stdout)
    expect(json).toMatchObject({
      ok: true,
      checkpoints_file: file,
      unreadable_lines: [],
      keys_proven: true,
      teams: [{ team_id: owner.teamId, ok: true, checkpoints: 2 }]
    })
  })

  test('verify exits with 1 if an entry was changed', async () => {
    await harmed(
      `update audit_entries set actor = 'x' || actor where seq = 1`,
      `update audit_entries set actor = substr(actor, 2) where seq = 1`,
      async () => {
        const asked = await shell.run(['audit', 'verify'])
        expect([asked.code, asked.stdout]).toEqual([
          1,
          expect.stringMatching(/^BROKEN at entry 1: the entry was changed: its hash is another one\n/)
        ])
        const looked = await shell.run(['audit', 'verify', '--database', '--json'])
        expect(looked.code).toBe(1)
        expect(JSON.parse(looked.stdout)).toMatchObject({ ok: false, teams: [{ first_broken: { seq: 1 } }] })
      }
    )
    expect((await shell.run(['audit', 'verify'])).code).toBe(0)
  })

  test('verify detects by the outside checkpoints a change that the database does not show', async () => {
    await harmed(
      `create table kept as select * from audit_checkpoints; delete from audit_checkpoints`,
      'insert into audit_checkpoints select * from kept; drop table kept',
      async () => {
        const given = await shell.run(['audit', 'verify', '--database', '--checkpoints', file])
        expect([given.code, given.stdout]).toEqual([1, expect.stringContaining('BROKEN at entry 2: the checkpoint of')])
      }
    )
  })

  test.each([
    [['audit', 'verify', '--checkpoints', 'x'], /needs --database/],
    [['audit', 'verify', '--database', '--checkpoints', 'nowhere'], /nowhere cannot be read \(ENOENT\)/],
    [['audit', 'verify', '--database', '--team', 'x'], /--team: must be the id of a team with --database/],
    [
      ['audit', 'verify', '--database', '--team', '01900000-0000-7000-8000-000000000000'],
      /no trail, checkpoint or capsule belongs to team 01900000/
    ]
  ])('%j is refused', async (args, message) => {
    const { code, stderr } = await shell.run(args)
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)])
  })

  test('verify fails if the checkpoints file of the environment cannot be read', async () => {
    const { stderr, code } = await shell.run(['audit', 'verify', '--database'], '', { AUDIT_CHECKPOINTS_FILE: 'gone' })
    expect([code, stderr]).toEqual([2, expect.stringMatching(/AUDIT_CHECKPOINTS_FILE: gone cannot be read \(ENOENT\)/)])
  })

  test('verify names signing keys that were inserted into the database', async () => {
    await harmed(
      `insert into signing_keys select 'ffffffffffffffff', public_key_pem, ring_key_id, wrapped_key, sealed_key, created_at,
        now() from signing_keys`,
      `delete from signing_keys where key_id = 'ffffffffffffffff'`,
      async () => {
        const { code, stdout } = await shell.run(['audit', 'verify', '--database'])
        expect([code, stdout]).toEqual([
          1,
          expect.stringMatching(/^SUSPECT key f{16}: it is none of this installation's/m)
        ])
        expect((await shell.run(['signing-keys'])).stdout).not.toContain('ffffffffffffffff')
      }
    )
  })

  test('verify without the key ring reports what it could not prove', async () => {
    const { stdout, code } = await shell.run(['audit', 'verify', '--database'], '', { SECRETS_KEYS: '' })
    expect([code, stdout]).toEqual([0, expect.stringMatching(/Without SECRETS_KEYS, the signing keys/)])
  })
})

test('qjob signing-keys shows the key that signs, which qjob admin rotate-signing-key changes', async () => {
  expect(existsSync(file)).toBe(true)
  const before = (await api.deps.signer()).keyId
  expect((await shell.run(['signing-keys'])).stdout).toMatch(
    new RegExp(`^${before} {2}ed25519 {2}since [^,\\n]+\\n-----BEGIN PUBLIC KEY-----\\n`)
  )
  const { code, stdout } = await shell.run(['admin', 'rotate-signing-key'])
  const after = (await api.deps.signer()).keyId
  expect([code, stdout]).toEqual([
    0,
    `${after} is the signing key now; ${before} is retired, and its signatures stay valid.\n`
  ])
  const { keys } = JSON.parse((await shell.run(['signing-keys', '--json'])).stdout)
  expect(keys.map((key: { key_id: string }) => key.key_id)).toEqual([before, after])
  expect((await shell.run(['audit', 'verify', '--database'])).code).toBe(0)
  const [noted] = await db.execute(sql`select action, target from admin_actions order by id desc limit 1`)
  expect(noted).toEqual({ action: 'signing_key.rotate', target: after })
})
