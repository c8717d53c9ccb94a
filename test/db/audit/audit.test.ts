import { createHash } from 'node:crypto'
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import canonicalize from 'canonicalize'
import { eq, sql } from 'drizzle-orm'
import { actorText, appendAudit, listAudit, recordedValue } from '../../../db/audit/audit.js'
import { checkpoint, exportCheckpoints, teamsToCheckpoint } from '../../../db/audit/audit-checkpoints.js'
import { newId } from '../../../db/ids.js'
import { ledgerMismatches } from '../../../db/proofs/money-proof.js'
import { auditCheckpoints } from '../../../db/tables/audit.js'
import { auditEntryView } from '../../../domain/audit/audit-action.js'
import { proveAudit } from '../../../services/audit/audit-proof.js'
import { addDraft, append, auditRing, auditSigner, seal } from '../../support/capsules/audit-trails.js'
import { addJob, addPerson, addTeam } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('audit', { max: 20 })
const { db } = database
afterAll(() => database.drop())

const person = await addPerson(db)
const signer = await auditSigner(db)
let teamId: string
beforeEach(async () => {
  teamId = await addTeam(db, person)
})

const entries = async () => (await listAudit(db, { teamId, limit: 1_000, offset: 0 })).rows.reverse()
const proof = () => proveAudit(db, teamId, { keyRing: auditRing })

describe('an audit entry', () => {
  test('can be hashed again with RFC 8785 and SHA-256 alone', async () => {
    const metadata = { b: [1, 2.5, null], a: 'Grüße\u2028 "x"', cost_usd: 0.1, nested: { z: 1e21, y: -0 } }
    await append(db, { teamId, capsuleId: newId(), action: 'capsule.created', newState: 'draft', metadata })
    await append(db, { teamId, actor: `user:${person.userId}` })
    let before = '0'.repeat(64)
    for (const entry of (await entries()).map(auditEntryView)) {
      const { prev_hash, hash, ...rest } = entry
      expect(prev_hash).toBe(before)
      expect(
        createHash('sha256')
          .update(prev_hash + canonicalize(rest)!)
          .digest('hex')
      ).toBe(hash)
      before = hash
    }
    expect((await entries()).map(({ seq }) => seq)).toEqual([1, 2])
    expect(auditEntryView((await entries())[0]!).metadata).toEqual({ ...metadata, nested: { z: 1e21, y: 0 } })
  })

  test('names its actor by an id, never by an address', async () => {
    const email = 'canary@mail.example.org'
    const caller = { userId: person.userId, email, key: null }
    expect(actorText(caller)).toBe(`user:${person.userId}`)
    expect(actorText({ ...caller, key: { id: 'k1', teamId } })).toBe('key:k1')
    expect(actorText({ adminId: person.userId })).toBe(`admin:${person.userId}`)
    expect(actorText('system')).toBe('system')
    const metadata = {
      alert: { emails: [email, `Canary <${email}>`], [email]: 1 },
      name: `of ${email}, and x@mail.example.org;y@mail.example.org`
    }
    await append(db, { teamId, actor: actorText(caller), metadata })
    const [entry] = await entries()
    expect(JSON.stringify(entry)).not.toContain('mail.example.org')
    expect(JSON.parse(entry!.metadata).name).toBe('of [mail address], and [mail address];[mail address]')
    expect((await proof()).ok).toBe(true)
  })

  test.each([
    ['no address', 'a'.repeat(4_000_000)],
    ['the beginning of one', `${'a'.repeat(4_000_000)}@`],
    ['many beginnings', 'a@'.repeat(2_000_000)],
    ['many ends', '@a.b'.repeat(1_000_000)],
    ['an address', `${'a'.repeat(2_000_000)}@${'b'.repeat(2_000_000)}.example.org`]
  ])('searches a text with %s in linear time', (_what, text) => {
    const began = performance.now()
    recordedValue(text)
    // A quadratic search would take hours.
    expect(performance.now() - began).toBeLessThan(30_000)
  })

  test('records a large value by its digest', async () => {
    const parameters = { rows: Array.from({ length: 5_000 }, (_, index) => index) }
    await append(db, { teamId, metadata: { parameters, backend: 'local' } })
    const recorded = JSON.parse((await entries())[0]!.metadata)
    const text = canonicalize(parameters)!
    expect(recorded).toEqual({
      backend: 'local',
      parameters: { sha256: createHash('sha256').update(text).digest('hex'), size_bytes: text.length }
    })
  })

  test.each([
    ['lone surrogates', { name: 'a\ud800b' }],
    ['a name like that of a prototype', JSON.parse('{"__proto__":{"a":1},"constructor":2}')],
    ['times and undefined values', { at: new Date(0), gone: undefined, list: [undefined] }],
    ['zero bytes', { text: 'a\u0000b' }]
  ])('stores %s', async (_what, metadata) => {
    await append(db, { teamId, metadata })
    expect(await proof()).toMatchObject({ ok: true, entries: 1 })
  })

  test('is rolled back with its change', async () => {
    await append(db, { teamId })
    const change = db.transaction(async (tx) => {
      await appendAudit(tx, {
        teamId,
        capsuleId: null,
        action: 'capsule.run',
        actor: 'system',
        previousState: null,
        newState: null,
        metadata: {}
      })
      throw new Error('refused')
    })
    await expect(change).rejects.toThrow('refused')
    await append(db, { teamId })
    expect((await entries()).map(({ seq }) => seq)).toEqual([1, 2])
    expect(await proof()).toMatchObject({ ok: true, entries: 2 })
  })

  test('of a seal cannot be written before the seal', async () => {
    await expect(append(db, { teamId, capsuleId: newId(), action: 'capsule.sealed' })).rejects.toThrow(
      /before the seal/
    )
    expect(await entries()).toEqual([])
  })

  test('cannot be changed, deleted or truncated in the database', async () => {
    await append(db, { teamId })
    for (const statement of [
      `update audit_entries set actor = 'x'`,
      'delete from audit_entries',
      'truncate audit_entries',
      'delete from audit_checkpoints where true'
    ]) {
      if (statement.includes('checkpoints')) await db.transaction((tx) => checkpoint(tx, teamId, signer))
      await expect(db.execute(sql.raw(statement))).rejects.toMatchObject({
        cause: expect.objectContaining({ message: 'the audit trail is append-only' })
      })
    }
  })
})

describe('the audit chain', () => {
  test('has no gaps after a hundred concurrent writers and reservations', async () => {
    const writers = Array.from({ length: 100 }, (_, index) =>
      index % 2
        ? append(db, { teamId, metadata: { index } })
        : addJob(db, person, { cost: 1_000n, submission: { teamId, backend: 'local' } }).then(() =>
            append(db, { teamId, metadata: { index } })
          )
    )
    const seqs = (await Promise.all(writers)).map(({ seq }) => seq).sort((one, other) => one - other)
    expect(seqs).toEqual(Array.from({ length: 100 }, (_, index) => index + 1))
    expect(await proof()).toMatchObject({ ok: true, entries: 100, head: { seq: 100 } })
    const times = (await entries()).map(({ at }) => at)
    expect(times).toEqual([...times].sort())
    expect([...(await ledgerMismatches(db))]).toEqual([])
  })

  test('is separate for each team, and teams do not wait for each other', async () => {
    const other = await addTeam(db, person)
    await db.transaction(async (tx) => {
      const entry = {
        capsuleId: null,
        action: 'capsule.run' as const,
        actor: 'system',
        previousState: null,
        newState: null,
        metadata: {}
      }
      await appendAudit(tx, { teamId, ...entry })
      expect(await append(db, { teamId: other })).toMatchObject({ seq: 1 })
    })
  })

  test('is kept when its team is deleted', async () => {
    await append(db, { teamId, action: 'capsule.created' })
    await db.execute(sql`delete from members where team_id = ${teamId}`)
    await db.execute(sql`delete from teams where id = ${teamId}`)
    expect(await proof()).toMatchObject({ ok: true, entries: 1 })
  })

  test('stays valid through the life of sealed and of deleted capsules', async () => {
    const first = await addDraft(db, teamId, person.userId)
    await seal(db, signer, first)
    const second = await addDraft(db, teamId, person.userId)
    await db.execute(sql`delete from capsules where id = ${second}`)
    await append(db, { teamId, capsuleId: second, action: 'capsule.deleted', previousState: 'draft' })
    const report = await proof()
    expect(report.firstBroken).toBeNull()
    expect(report).toMatchObject({ ok: true, entries: 4, seals: 1, checkpoints: 1, signedUpTo: 2 })
  })
})

test('an entry with an older state of the capsule is not a fault', async () => {
  const capsuleId = await addDraft(db, teamId, person.userId)
  await seal(db, signer, capsuleId)
  // A run that read the capsule before it was sealed, and was recorded afterwards.
  await append(db, { teamId, capsuleId, action: 'capsule.run', previousState: 'draft', newState: 'draft' })
  expect((await proof()).firstBroken).toBeNull()
})

describe('checkpoints', () => {
  test('are due when a chain has grown since the last one and that is old enough', async () => {
    const due = () => teamsToCheckpoint(db, 0, 1_000)
    expect(await due()).not.toContain(teamId)
    await append(db, { teamId })
    expect(await due()).toContain(teamId)
    expect(await teamsToCheckpoint(db, 3_600, 1_000)).toContain(teamId)
    await db.transaction((tx) => checkpoint(tx, teamId, signer))
    expect(await due()).not.toContain(teamId)
    await append(db, { teamId })
    expect(await teamsToCheckpoint(db, 3_600, 1_000)).not.toContain(teamId)
  })

  test('are exported again when the exporter died before marking them', async () => {
    await append(db, { teamId })
    await db.transaction((tx) => checkpoint(tx, teamId, signer))
    const mine = (points: { teamId: string }[]) => points.filter((point) => point.teamId === teamId).length
    const seen: number[] = []
    const dying = exportCheckpoints(db, 1_000, async (points) => {
      seen.push(mine(points))
      throw new Error('died')
    })
    await expect(dying).rejects.toThrow('died')
    await exportCheckpoints(db, 1_000, async (points) => void seen.push(mine(points)))
    await exportCheckpoints(db, 1_000, async (points) => void seen.push(mine(points)))
    expect(seen).toEqual([1, 1])
    const rows = await db.select().from(auditCheckpoints).where(eq(auditCheckpoints.teamId, teamId))
    expect(rows.every(({ exportedAt }) => exportedAt !== null)).toBe(true)
  })

  test('are exported by one process at a time', async () => {
    await append(db, { teamId })
    await db.transaction((tx) => checkpoint(tx, teamId, signer))
    let second: number | null = -1
    await exportCheckpoints(db, 1_000, async () => {
      second = await exportCheckpoints(db, 1_000, async () => {})
    })
    expect(second).toBeNull()
  })
})
