import { createPublicKey, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { createAuditProofs } from '../../../apps/api/teams/audit/audit-proofs.js'
import { commandLine } from '../../../db/audit/admin-audit.js'
import { checkpoint } from '../../../db/audit/audit-checkpoints.js'
import { newId } from '../../../db/ids.js'
import type { AuditReport } from '../../../db/proofs/audit-verify.js'
import { writeCheckpoints } from '../../../services/audit/audit-checkpointing.js'
import { keyFaults, provenKeys } from '../../../services/audit/audit-proof.js'
import { readKeyRing } from '../../../services/keys/key-ring.js'
import { keyIdOf, rotateSigningKey } from '../../../services/keys/signer.js'
import { startApi, type TestUser } from '../../support/api/api.js'
import { addDraft, append, seal } from '../../support/capsules/audit-trails.js'

const api = await startApi('audit-api')
const { db } = api.database
afterAll(() => api.close())

let owner: TestUser & { teamId: string }
let outsider: TestUser
let capsuleId: string
beforeAll(async () => {
  owner = await api.signUpWithTeam()
  outsider = await api.signUp()
  capsuleId = await addDraft(db, owner.teamId, owner.id)
  await seal(db, await api.deps.signer(), capsuleId)
})

describe('the trail of a team', () => {
  test('lists what was done, newest first, page by page', async () => {
    const { body, status } = await owner.get('/api/team/audit')
    expect([status, body.total, body.limit, body.offset]).toEqual([200, 2, 50, 0])
    expect(body.entries.map((entry: { action: string }) => entry.action)).toEqual(['capsule.sealed', 'capsule.created'])
    expect(body.entries[1]).toEqual({
      seq: 1,
      team_id: owner.teamId,
      capsule_id: capsuleId,
      action: 'capsule.created',
      actor: `user:${owner.id}`,
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      previous_state: null,
      new_state: 'draft',
      metadata: expect.objectContaining({ definition_sha256: expect.any(String) }),
      prev_hash: '0'.repeat(64),
      hash: body.entries[0].prev_hash
    })
    expect(body.entries[0].metadata).toMatchObject({
      capsule_digest: expect.stringMatching(/^mqc:1:/),
      root_digest: expect.stringMatching(/^sha256:/)
    })
    const second = (await owner.get(`/api/team/audit?team_id=${owner.teamId}&limit=1&offset=1`)).body
    expect(second.entries).toEqual([body.entries[1]])
    expect((await owner.get(`/api/team/audit?capsule_id=${newId()}`)).body).toMatchObject({ entries: [], total: 0 })
  })

  test('can be read for one capsule', async () => {
    const { body } = await owner.get(`/api/capsules/${capsuleId}/audit`)
    expect(body.entries.map((entry: { seq: number }) => entry.seq)).toEqual([2, 1])
    expect((await outsider.get(`/api/capsules/${capsuleId}/audit`)).status).toBe(404)
    expect((await owner.get(`/api/capsules/${newId()}/audit`)).status).toBe(404)
    expect((await outsider.get(`/api/team/audit?team_id=${owner.teamId}`)).status).toBe(404)
  })

  test('is empty for a caller without a team', async () => {
    expect((await outsider.get('/api/team/audit')).body).toMatchObject({ entries: [], total: 0 })
    expect((await outsider.get('/api/team/audit/verify')).body).toMatchObject({ ok: true, entries: 0 })
  })

  test('is verified, and the report names a changed entry', async () => {
    const proof = async () => (await owner.get(`/api/team/audit/verify?team_id=${owner.teamId}`)).body
    expect(await proof()).toEqual({
      ok: true,
      entries: 2,
      head: { seq: 2, hash: expect.any(String) },
      first_broken: null,
      checkpoints: 1,
      signed_up_to: 2,
      seals: 1,
      checkpoints_outside: {
        compared: false,
        checkpoints: 0,
        unreadable_lines: 0,
        reason: 'AUDIT_CHECKPOINTS_FILE is not set for the api'
      }
    })
    await db.transaction(async (tx) => {
      await tx.execute(sql`set local session_replication_role = replica`)
      await tx.execute(sql`update capsule_files set content = 'x' where capsule_id = ${capsuleId}`)
    })
    expect(await proof()).toMatchObject({
      ok: false,
      first_broken: { seq: 2, reason: expect.stringContaining(`${capsuleId} is not what was sealed`) }
    })
  })

  test('says how far its proof is, where the caller takes events, and ends with the report that others get', async () => {
    const team = await api.signUpWithTeam()
    await append(db, { teamId: team.teamId })
    const path = `/api/team/audit/verify?team_id=${team.teamId}`
    const { status, headers, text } = await team.ask('GET', path, undefined, { accept: 'text/event-stream' })
    expect([status, headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8'])
    const report = (await team.get(path)).text
    expect(text).toBe(`event: progress\ndata: {"entries":1,"of":1}\n\nevent: report\ndata: ${report}\n\n`)
    const refused = await outsider.ask('GET', path, undefined, { accept: 'text/event-stream' })
    expect([refused.status, refused.body.error]).toEqual([404, 'team_id: no such team'])
  })

  test('is filtered by action, time and the highest number', async () => {
    const team = await api.signUpWithTeam()
    const actions = ['capsule.run', 'capsule.verified', 'capsule.run', 'capsule.archived'] as const
    for (const action of actions) await append(db, { teamId: team.teamId, action })
    const page = async (query: string) => {
      const { entries, total } = (await team.get(`/api/team/audit?team_id=${team.teamId}&${query}`)).body
      return { total, entries: entries as { seq: number; at: string }[] }
    }
    const numbers = async (query: string) => (await page(query)).entries.map(({ seq }) => seq)
    expect(await numbers('action=capsule.run')).toEqual([3, 1])
    expect((await page('action=capsule.run')).total).toBe(2)
    expect(await numbers('seq_max=3')).toEqual([3, 2, 1])
    const [, third, second] = (await page('')).entries
    expect(await numbers(`to=${second!.at}&limit=1`)).toEqual([2])
    expect(await numbers(`from=${third!.at}`)).toContain(4)
    expect(await numbers('from=2999-01-01T00:00:00Z')).toEqual([])
    await append(db, { teamId: team.teamId })
    expect(await numbers('seq_max=4&limit=2&offset=2')).toEqual([2, 1])
    for (const wrong of ['action=job.cancel', 'seq_max=0', 'from=yesterday'])
      expect((await team.get(`/api/team/audit?${wrong}`)).status).toBe(400)
  })

  test('names its actors apart from the entries, where they are still known', async () => {
    const team = await api.signUpWithTeam()
    await team.ask('PATCH', '/api/profile', { display_name: 'Ada <b>L</b>' })
    const key = await team.post('/api/team/api-keys', { team_id: team.teamId, name: 'ci', tier: 'read', kind: 'live' })
    const foreign = await owner.post('/api/team/api-keys', {
      team_id: owner.teamId,
      name: 'x',
      tier: 'read',
      kind: 'live'
    })
    const actors = [
      `user:${team.id}`,
      `user:${newId()}`,
      `key:${key.body.id}`,
      `key:${foreign.body.id}`,
      `admin:${owner.id}`,
      'system'
    ]
    for (const actor of actors) await append(db, { teamId: team.teamId, actor })
    const { body } = await team.get('/api/team/audit')
    expect(body.actors).toEqual({ [`user:${team.id}`]: 'Ada <b>L</b>', [`key:${key.body.id}`]: 'ci' })
  })

  test('names people only by their ids', async () => {
    const { body } = await owner.get('/api/team/audit')
    expect(JSON.stringify(body.entries)).not.toContain('@')
  })
})

describe('the file of checkpoints outside the database', () => {
  const folder = mkdtempSync(join(tmpdir(), 'qjs-outside-'))
  const file = join(folder, 'checkpoints.jsonl')
  afterAll(() => {
    api.deps.config.auditCheckpointsFile = null
    rmSync(folder, { recursive: true })
  })
  const proofOf = async ({ teamId, get }: typeof owner) => (await get(`/api/team/audit/verify?team_id=${teamId}`)).body

  test('is not required before its first checkpoint', async () => {
    const team = await api.signUpWithTeam()
    api.deps.config.auditCheckpointsFile = file
    expect(await proofOf(team)).toMatchObject({
      ok: true,
      checkpoints_outside: { compared: false, reason: 'no checkpoint was written to AUDIT_CHECKPOINTS_FILE yet' }
    })
  })

  test('reveals a trail that was truncated together with its checkpoints in the database', async () => {
    const team = await api.signUpWithTeam()
    const signer = await api.deps.signer()
    for (let more = 0; more < 3; more++) await append(db, { teamId: team.teamId })
    await db.transaction((tx) => checkpoint(tx, team.teamId, signer))
    await writeCheckpoints(db, file)
    expect(await proofOf(team)).toMatchObject({
      ok: true,
      checkpoints: 2,
      checkpoints_outside: { compared: true, checkpoints: 1, reason: null }
    })
    await db.transaction(async (tx) => {
      await tx.execute(sql`set local session_replication_role = replica`)
      await tx.execute(sql`delete from audit_checkpoints where team_id = ${team.teamId}`)
      await tx.execute(sql`delete from audit_entries where team_id = ${team.teamId} and seq > 1`)
      await tx.execute(sql`update audit_heads set seq = 1, hash = (select hash from audit_entries
        where team_id = ${team.teamId}) where team_id = ${team.teamId}`)
    })
    expect(await proofOf(team)).toMatchObject({
      ok: false,
      first_broken: { seq: 2, reason: expect.stringMatching(/end is missing.*outside the database signs entry 3/) }
    })
    api.deps.config.auditCheckpointsFile = null
    expect(await proofOf(team)).toMatchObject({ ok: true, checkpoints_outside: { compared: false } })
  })

  test.each([
    ['is gone', join(folder, 'moved'), /has no checkpoint, although some were written/],
    ['cannot be read', folder, /cannot be read \(EISDIR\)/]
  ])('proves nothing when it %s, and its path is not shown', async (_what, path, reason) => {
    const team = await api.signUpWithTeam()
    api.deps.config.auditCheckpointsFile = path
    const body = await proofOf(team)
    expect(body).toMatchObject({
      ok: false,
      first_broken: null,
      checkpoints_outside: { compared: false, reason: expect.stringMatching(reason) }
    })
    expect(JSON.stringify(body)).not.toContain(folder)
  })
})

describe('the keys that sign', () => {
  const keys = async () => (await api.ask('GET', '/api/meta/keys')).body.keys

  test('are public', async () => {
    const [key, ...more] = await keys()
    expect(more).toEqual([])
    expect(key).toEqual({
      key_id: keyIdOf(createPublicKey(key.public_key_pem)),
      algorithm: 'ed25519',
      public_key_pem: expect.stringMatching(/^-----BEGIN PUBLIC KEY-----/),
      created_at: expect.any(String),
      retired_at: null
    })
  })

  test('can be changed without a restart, and signatures of the old key stay valid', async () => {
    const team = await api.signUpWithTeam()
    await seal(db, await api.deps.signer(), await addDraft(db, team.teamId, team.id))
    const { keyId, retired } = await rotateSigningKey(db, api.deps.keyRing!, commandLine)
    expect((await api.deps.signer()).keyId).toBe(keyId)
    expect(await keys()).toEqual([
      expect.objectContaining({ key_id: retired, retired_at: expect.any(String) }),
      expect.objectContaining({ key_id: keyId, retired_at: null })
    ])
    await seal(db, await api.deps.signer(), await addDraft(db, team.teamId, team.id))
    expect((await team.get('/api/team/audit/verify')).body).toMatchObject({ ok: true, seals: 2 })
  })

  test('can be changed while capsules are being sealed', async () => {
    const team = await api.signUpWithTeam()
    const drafts = await Promise.all(Array.from({ length: 8 }, () => addDraft(db, team.teamId, team.id)))
    await Promise.all(
      drafts.map(async (id, at) => {
        if (at % 3 === 1) await rotateSigningKey(db, api.deps.keyRing!, commandLine)
        await seal(db, await api.deps.signer(), id)
      })
    )
    expect((await team.get('/api/team/audit/verify')).body).toMatchObject({ ok: true, seals: 8 })
    expect(await keyFaults(db, api.deps.keyRing)).toEqual([])
  })

  test('are created once, with many first requests at once', async () => {
    await db.execute(sql`delete from signing_keys`)
    const ids = await Promise.all(Array.from({ length: 10 }, async () => (await api.deps.signer()).keyId))
    expect(new Set(ids).size).toBe(1)
    expect((await keys()).length).toBe(1)
  })

  test('are not taken from rows that were inserted by hand', async () => {
    const proven = await provenKeys(db, api.deps.keyRing)
    await db.execute(sql`insert into signing_keys (key_id, public_key_pem, ring_key_id, wrapped_key, sealed_key)
      values ('0123456789abcdef', 'no key', 'test', ${randomBytes(60).toString('hex')}::bytea, 'x')`)
    expect([...(await provenKeys(db, api.deps.keyRing)).keys()]).toEqual([...proven.keys()])
    expect([...(await provenKeys(db, null)).keys()]).toEqual([...proven.keys()])
    expect((await keys()).map((key: { key_id: string }) => key.key_id)).toEqual([...proven.keys()])
    expect(await keyFaults(db, api.deps.keyRing)).toEqual([
      expect.objectContaining({
        keyId: '0123456789abcdef',
        reason: "it is none of this installation's: its public half is not that of its id"
      })
    ])
    await db.execute(sql`delete from signing_keys where key_id = '0123456789abcdef'`)
  })

  test('sign nothing once they are retired, even if the row is changed back', async () => {
    const { keyId, retired } = await rotateSigningKey(db, api.deps.keyRing!, commandLine)
    await db.execute(sql`update signing_keys set retired_at = null`)
    expect((await api.deps.signer()).keyId).toBe(keyId)
    expect(await keyFaults(db, api.deps.keyRing)).toEqual([
      { keyId: retired, reason: `it is not retired, although ${keyId} signs` }
    ])
    await db.execute(sql`update signing_keys set retired_at = now() where key_id = ${retired}`)
    expect(await keyFaults(db, api.deps.keyRing)).toEqual([])
  })

  test('that the key ring cannot open are reported as such, not as foreign', async () => {
    const other = readKeyRing(`other:${randomBytes(32).toString('base64')}`)
    const [fault] = await keyFaults(db, other)
    expect(fault!.reason).toBe(
      "it is not known to be this installation's: SECRETS_KEYS does not hold test, with which it is sealed"
    )
  })

  test('are needed to sign, and a missing key is reported', async () => {
    const without = await startApi('audit-no-keys', { keyRing: null })
    await expect(without.deps.signer()).rejects.toMatchObject({ code: 'not_available' })
    const team = await without.signUpWithTeam()
    const id = await addDraft(without.database.db, team.teamId, team.id)
    const { status, text } = await team.post(`/api/capsules/${id}/seal`, { exit_code: 0 })
    expect([status, text]).toEqual([400, expect.stringMatching(/nothing can be signed here.*sets SECRETS_KEYS/)])
    expect((await without.ask('GET', '/api/meta/keys')).body).toEqual({ keys: [] })
    await without.close()
  })
})

describe('proofs', () => {
  const report = (entries: number): AuditReport => ({
    ok: true,
    entries,
    head: { seq: 0, hash: '' },
    firstBroken: null,
    checkpoints: 0,
    signedUpTo: 0,
    seals: 0
  })

  test('run one at a time, are shared by waiting requests, and never predate the request', async () => {
    const begun: string[] = []
    const ends: (() => void)[] = []
    const proofs = createAuditProofs<AuditReport>((teamId) => {
      begun.push(teamId)
      return new Promise((resolve) => ends.push(() => resolve(report(begun.length))))
    })
    const first = proofs.of('a')
    await Promise.resolve()
    expect(begun).toEqual(['a'])
    const [second, third, other] = [proofs.of('a'), proofs.of('a'), proofs.of('b')]
    expect(third).toBe(second)
    ends.shift()!()
    expect((await first).entries).toBe(1)
    await Promise.resolve()
    ends.shift()!()
    expect((await second).entries).toBe(2)
    await Promise.resolve()
    ends.shift()!()
    expect((await other).entries).toBe(3)
    expect(begun).toEqual(['a', 'a', 'b'])
  })

  test('tell each request that shares one how far it is', async () => {
    const proofs = createAuditProofs<AuditReport>(async (_teamId, onProgress) => {
      onProgress(1, 2)
      return report(2)
    })
    const told: [string, number, number][] = []
    const telling = (name: string) => (entries: number, of: number) => void told.push([name, entries, of])
    await Promise.all([proofs.of('a', telling('one')), proofs.of('a', telling('two')), proofs.of('a')])
    expect(told).toEqual([
      ['one', 1, 2],
      ['two', 1, 2]
    ])
  })

  test('that fail do not block the next, and too many at once are refused', async () => {
    let fails = true
    const proofs = createAuditProofs(async () => {
      if (fails) throw new Error('away')
      return report(1)
    })
    await expect(proofs.of('a')).rejects.toThrow('away')
    fails = false
    expect((await proofs.of('a')).ok).toBe(true)
    const many = Array.from({ length: 16 }, (_, index) => proofs.of(String(index)))
    expect(() => proofs.of('one more')).toThrow(/Try again in 10 seconds/)
    await Promise.all(many)
  })
})

test('an entry of another team is not in the list', async () => {
  const other = await api.signUpWithTeam()
  await append(db, { teamId: other.teamId })
  expect((await owner.get(`/api/team/audit?team_id=${owner.teamId}`)).body.total).toBe(2)
})
