// What an attacker with full access to the database can do to an audit trail, and that the proof names it. Each harm is
// done with triggers and foreign keys switched off, checked, and undone.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { and, eq, sql } from 'drizzle-orm'
import { appendAudit, entryHash } from '../../../db/audit/audit.js'
import { checkpoint } from '../../../db/audit/audit-checkpoints.js'
import { putSigningKey } from '../../../db/audit/signing-keys.js'
import type { Tx } from '../../../db/client.js'
import { newId } from '../../../db/ids.js'
import { type AuditReport, auditReport, verifySinceCheckpoint } from '../../../db/proofs/audit-verify.js'
import { auditCheckpoints, auditEntries, auditHeads } from '../../../db/tables/audit.js'
import { capsules } from '../../../db/tables/capsules.js'
import { auditEntryText, type ChainedEntry, NO_HASH } from '../../../domain/audit/audit-action.js'
import type { Checkpoint } from '../../../domain/audit/audit-checkpoint.js'
import { auditEvidence } from '../../../services/audit/audit-proof.js'
import {
  addHistory,
  append,
  auditRing,
  auditSigner,
  foreignSigner,
  tampered
} from '../../support/capsules/audit-trails.js'
import { addPerson, addTeam } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('audit-tamper', { max: 5 })
const { db } = database
afterAll(() => database.drop())

const person = await addPerson(db)
const signer = await auditSigner(db)
const teamId = await addTeam(db, person)
const otherTeam = await addTeam(db, person)
let entries: ChainedEntry[]
let kept: Checkpoint[]

beforeAll(async () => {
  ;({ entries, checkpoints: kept } = await addHistory(db, teamId, person.userId, signer))
  await append(db, { teamId: otherTeam })
})

/** A sequence that is the same in each run. */
function chance(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** The report of the proof while the harm is done, with the exported checkpoints by default. */
const reportAfter = (
  harm: (tx: Tx) => Promise<unknown>,
  exported: readonly Checkpoint[] = kept
): Promise<AuditReport> =>
  tampered(db, harm, async (tx) => auditReport(tx, teamId, await auditEvidence(tx, { keyRing: auditRing, exported })))

const at = (seq: number) => and(eq(auditEntries.teamId, teamId), eq(auditEntries.seq, seq))
const move = (tx: Tx, from: number, to: number) => tx.update(auditEntries).set({ seq: to }).where(at(from))
const setHead = (tx: Tx, entry: { seq: number; hash: string }) =>
  tx.update(auditHeads).set({ seq: entry.seq, hash: entry.hash }).where(eq(auditHeads.teamId, teamId))

/** Recomputes the chain from an entry on, consistent in itself, together with its end. */
async function recompute(tx: Tx, from: number, change: (entry: ChainedEntry) => ChainedEntry | null): Promise<void> {
  await tx.delete(auditEntries).where(and(eq(auditEntries.teamId, teamId), sql`${auditEntries.seq} >= ${from}`))
  let last = from > 1 ? { seq: from - 1, hash: entries[from - 2]!.hash } : { seq: 0, hash: NO_HASH }
  for (const entry of entries.slice(from - 1)) {
    const changed = change(entry)
    if (!changed) continue
    const next = { ...changed, seq: last.seq + 1, prevHash: last.hash }
    const hash = entryHash(last.hash, auditEntryText(next))
    await tx.insert(auditEntries).values({ ...next, hash })
    last = { seq: next.seq, hash }
  }
  await setHead(tx, last)
}

const otherwise = (entry: ChainedEntry): ChainedEntry => ({ ...entry, actor: `user:${newId()}` })

test('an unchanged trail is valid', async () => {
  const report = await reportAfter(async () => {})
  expect(report.firstBroken).toBeNull()
  // Each checkpoint is checked in the database and outside it.
  expect(report).toMatchObject({ ok: true, entries: 40, seals: 3, checkpoints: 8, signedUpTo: 40 })
})

describe('a changed row is reported', () => {
  const edits: [keyof ChainedEntry, (entry: ChainedEntry) => ChainedEntry[keyof ChainedEntry]][] = [
    ['teamId', () => newId()],
    ['seq', () => 1_000],
    ['seq', () => 0],
    ['seq', () => -5],
    ['capsuleId', ({ capsuleId }) => (capsuleId ? null : newId())],
    ['capsuleId', () => newId()],
    ['action', ({ action }) => (action === 'capsule.run' ? 'capsule.verified' : 'capsule.run')],
    ['actor', () => 'system2'],
    ['at', ({ at: time }) => time.replace('2', '1')],
    ['previousState', ({ previousState }) => (previousState === null ? '' : null)],
    ['newState', ({ newState }) => (newState === 'sealed' ? 'published' : 'sealed')],
    ['metadata', ({ metadata }) => `${metadata} `],
    ['metadata', ({ metadata }) => metadata.replace('{', '{"a":1,')],
    ['metadata', () => '[]'],
    ['metadata', () => 'null'],
    ['metadata', () => 'x'],
    ['prevHash', ({ prevHash }) => prevHash.toUpperCase().replace('0', 'F')],
    ['hash', ({ hash }) => hash.replace(/^./, (digit) => (digit === 'a' ? 'b' : 'a'))]
  ]

  test.each(edits)('edited %s, at twelve places', async (column, change) => {
    const pick = chance(edits.findIndex(([name, by]) => name === column && by === change) + 1)
    for (let round = 0; round < 12; round++) {
      const entry = entries[pick(entries.length)]!
      const report = await reportAfter((tx) =>
        tx
          .update(auditEntries)
          .set({ [column]: change(entry) })
          .where(at(entry.seq))
      )
      const seq = column === 'seq' && Number(change(entry)) < 1 ? Number(change(entry)) : entry.seq
      expect([report.ok, report.firstBroken?.seq, report.firstBroken?.reason]).toEqual([false, seq, expect.any(String)])
    }
  })

  test('deleted, at every place', async () => {
    for (const { seq } of entries) {
      const report = await reportAfter((tx) => tx.delete(auditEntries).where(at(seq)))
      expect(report.firstBroken?.seq).toBe(seq)
    }
  })

  test('two swapped, at forty places', async () => {
    const pick = chance(7)
    for (let round = 0; round < 40; round++) {
      const one = 1 + pick(entries.length)
      const other = 1 + ((one + pick(entries.length - 1)) % entries.length)
      const report = await reportAfter(async (tx) => {
        await move(tx, one, 100_000)
        await move(tx, other, one)
        await move(tx, 100_000, other)
      })
      expect(report.firstBroken?.seq).toBe(Math.min(one, other))
    }
  })

  test('inserted in between, at forty places', async () => {
    const pick = chance(8)
    for (let round = 0; round < 40; round++) {
      const seq = 1 + pick(entries.length)
      const entry = { ...entries[pick(entries.length)]!, seq, prevHash: entries[seq - 2]?.hash ?? NO_HASH }
      const report = await reportAfter(async (tx) => {
        await tx.execute(sql`update audit_entries set seq = -seq where team_id = ${teamId} and seq >= ${seq}`)
        await tx.execute(sql`update audit_entries set seq = 1 - seq where team_id = ${teamId} and seq < 0`)
        await tx.insert(auditEntries).values({ ...entry, hash: entryHash(entry.prevHash, auditEntryText(entry)) })
      })
      // When the inserted entry is consistent and no checkpoint follows, the entry after it is the first broken one.
      expect([seq, seq + 1]).toContain(report.firstBroken?.seq)
    }
  })

  test('appended after the end', async () => {
    const last = entries.at(-1)!
    const entry = { ...last, seq: last.seq + 1, prevHash: last.hash }
    const report = await reportAfter((tx) =>
      tx.insert(auditEntries).values({ ...entry, hash: entryHash(last.hash, auditEntryText(entry)) })
    )
    expect(report.firstBroken).toMatchObject({ seq: 41, reason: expect.stringMatching(/appended after/) })
  })

  test('inserted with an unused number', async () => {
    for (const seq of [0, -1, 50]) {
      const report = await reportAfter((tx) => tx.insert(auditEntries).values({ ...entries[3]!, seq }))
      expect(report.firstBroken?.seq).toBe(seq < 1 ? seq : 41)
    }
  })
})

describe('a truncated or rewritten trail is reported', () => {
  const cut = async (tx: Tx, after: number) => {
    await tx.delete(auditEntries).where(and(eq(auditEntries.teamId, teamId), sql`${auditEntries.seq} > ${after}`))
    await setHead(tx, entries[after - 1]!)
  }
  const forget = (tx: Tx, from: number) =>
    tx.delete(auditCheckpoints).where(and(eq(auditCheckpoints.teamId, teamId), sql`${auditCheckpoints.seq} >= ${from}`))

  test('truncated at every place, together with the record of its end', async () => {
    for (let after = 1; after < entries.length; after++) {
      const report = await reportAfter((tx) => cut(tx, after), [])
      expect(report.firstBroken).toMatchObject({ seq: after + 1, reason: expect.stringMatching(/end is missing/) })
    }
  })

  test('truncated together with the checkpoints in the database: by the exported ones', async () => {
    for (let after = 1; after < entries.length; after += 3) {
      const report = await reportAfter(async (tx) => {
        await cut(tx, after)
        await forget(tx, after + 1)
      })
      expect(report.firstBroken).toMatchObject({
        seq: after + 1,
        reason: expect.stringMatching(/end is missing.*outside the database/)
      })
    }
  })

  test('deleted completely: by the exported checkpoints', async () => {
    const report = await reportAfter(async (tx) => {
      for (const table of [auditEntries, auditCheckpoints, auditHeads])
        await tx.delete(table).where(eq(table.teamId, teamId))
      await tx.delete(capsules).where(eq(capsules.teamId, teamId))
    })
    expect(report.firstBroken).toMatchObject({ seq: 1 })
  })

  test('recomputed from every place: at the next checkpoint', async () => {
    for (let from = 1; from <= entries.length; from++) {
      const report = await reportAfter((tx) => recompute(tx, from, otherwise), [])
      const signed = Math.min(...kept.map(({ seq }) => seq).filter((seq) => seq >= from))
      expect(report.firstBroken).toMatchObject({ seq: signed, reason: expect.stringMatching(/rewritten/) })
    }
  })

  test('recomputed without one of its entries', async () => {
    const pick = chance(11)
    for (let round = 0; round < 20; round++) {
      const gone = 1 + pick(entries.length)
      const report = await reportAfter((tx) => recompute(tx, gone, (entry) => (entry.seq === gone ? null : entry)), [])
      expect(report.ok).toBe(false)
      expect(report.firstBroken!.seq).toBeGreaterThanOrEqual(gone)
    }
  })

  test('recomputed without the checkpoints in the database: by the exported ones, and without them by the seals', async () => {
    for (const from of [1, 5, 12, 25, 31]) {
      const harm = async (tx: Tx) => {
        await recompute(tx, from, otherwise)
        await forget(tx, from)
      }
      expect((await reportAfter(harm)).firstBroken?.reason).toMatch(/rewritten.*outside the database/)
      const nextSeal = entries.find(({ seq, action }) => seq >= from && action === 'capsule.sealed')
      const inside = await reportAfter(harm, [])
      if (nextSeal)
        expect(inside.firstBroken).toMatchObject({ seq: nextSeal.seq, reason: expect.stringMatching(/checkpoint/) })
    }
  })

  test('recomputed and signed with an added key', async () => {
    const forger = foreignSigner()
    for (const keyRow of [
      { ringKeyId: 'audit', wrappedKey: Buffer.alloc(60), sealedKey: Buffer.alloc(60) },
      // Moves the sealed half of the true key to the forger's row.
      (
        await db.execute<{ ring_key_id: string; wrapped_key: Buffer; sealed_key: Buffer }>(
          sql`select ring_key_id, wrapped_key, sealed_key from signing_keys limit 1`
        )
      )[0]!
    ]) {
      const sealedHalf =
        'ringKeyId' in keyRow
          ? keyRow
          : { ringKeyId: keyRow.ring_key_id, wrappedKey: keyRow.wrapped_key, sealedKey: keyRow.sealed_key }
      const report = await reportAfter(async (tx) => {
        await recompute(tx, 31, otherwise)
        await forget(tx, 31)
        await putSigningKey(tx, { keyId: forger.keyId, publicKeyPem: forger.publicKeyPem, ...sealedHalf })
        await checkpoint(tx, teamId, forger)
      }, [])
      expect(report.firstBroken).toMatchObject({
        seq: 33,
        reason: expect.stringMatching(/seal is missing|installation's/)
      })
    }
  })

  test('with a changed or missing record of its end', async () => {
    const last = entries.at(-1)!
    const heads: [(tx: Tx) => Promise<unknown>, number][] = [
      [(tx) => setHead(tx, { seq: 44, hash: last.hash }), 41],
      [(tx) => setHead(tx, { seq: 38, hash: entries[37]!.hash }), 39],
      [(tx) => setHead(tx, { seq: 40, hash: NO_HASH }), 40],
      [(tx) => tx.delete(auditHeads).where(eq(auditHeads.teamId, teamId)), 40]
    ]
    for (const [harm, seq] of heads) expect((await reportAfter(harm)).firstBroken?.seq).toBe(seq)
  })
})

describe('a checkpoint is reported', () => {
  const other = (character: string) => (character === 'A' ? 'B' : 'A')
  const columns: [string, (point: Checkpoint) => Partial<Checkpoint>][] = [
    ['hash', ({ hash }) => ({ hash: hash.split('').reverse().join('') })],
    ['place', ({ seq }) => ({ seq: seq - 1 })],
    ['place beyond the end', () => ({ seq: 400 })],
    ['time', ({ at: time }) => ({ at: time.replace('2', '1') })],
    ['key', () => ({ keyId: '0'.repeat(16) })],
    ['signature', ({ signature }) => ({ signature: signature.replace(/^./, other) })],
    ['spelling of its signature', ({ signature }) => ({ signature: `${signature}\n` })],
    ['team', () => ({ teamId: otherTeam })]
  ]

  test.each(columns)('when its %s was edited', async (_what, change) => {
    for (const point of kept) {
      const row = and(eq(auditCheckpoints.teamId, teamId), eq(auditCheckpoints.seq, point.seq))
      const report = await reportAfter((tx) => tx.update(auditCheckpoints).set(change(point)).where(row))
      expect(report.firstBroken).not.toBeNull()
      expect(report.firstBroken!.seq).toBeLessThanOrEqual(Math.max(point.seq, 41))
    }
  })

  test('when it was deleted from the database and is in the file', async () => {
    const report = await reportAfter((tx) => tx.delete(auditCheckpoints).where(eq(auditCheckpoints.seq, 40)))
    expect(report.firstBroken).toMatchObject({ seq: 40, reason: expect.stringMatching(/missing in the database/) })
  })

  test('when it is outside the database and has no valid signature', async () => {
    const forged = { ...kept[0]!, at: '2026-01-01T00:00:00.000Z' }
    expect((await reportAfter(async () => {}, [...kept, forged])).firstBroken?.reason).toMatch(/signature.*/)
  })

  test('when the public half of its key was replaced', async () => {
    const { publicKeyPem } = foreignSigner()
    const report = await reportAfter((tx) =>
      tx.execute(sql`update signing_keys set public_key_pem = ${publicKeyPem} where key_id = ${signer.keyId}`)
    )
    expect(report.firstBroken?.reason).toMatch(/none of this installation's/)
  })
})

describe('a rewritten trail gets no new checkpoint when it was changed', () => {
  const keys = async (tx: Tx) => (await auditEvidence(tx, { keyRing: auditRing })).keys
  const since = (harm: (tx: Tx) => Promise<unknown>) =>
    tampered(
      db,
      async (tx) => {
        for (let more = 0; more < 5; more++)
          await appendAudit(tx, {
            teamId,
            capsuleId: null,
            action: 'capsule.run',
            actor: 'system',
            previousState: null,
            newState: null,
            metadata: { more }
          })
        await harm(tx)
      },
      async (tx) => verifySinceCheckpoint(tx, teamId, await keys(tx))
    )

  test('a valid trail gets a new checkpoint', async () => {
    expect(await since(async () => {})).toBeNull()
  })

  test.each<[string, (tx: Tx) => Promise<unknown>, number]>([
    ['since the last checkpoint', (tx) => tx.update(auditEntries).set({ actor: 'x' }).where(at(43)), 43],
    ['at the last checkpoint', (tx) => recompute(tx, 38, otherwise), 40],
    ['by leaving out an entry', (tx) => tx.delete(auditEntries).where(at(44)), 44],
    ['by truncating it', (tx) => tx.delete(auditEntries).where(at(45)), 45]
  ])('%s', async (_what, harm, seq) => {
    expect(await since(harm)).toMatchObject({ seq })
  })
})
