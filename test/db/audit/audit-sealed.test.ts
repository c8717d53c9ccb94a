// What an attacker with full access to the database can do to sealed capsules, and that the proof of the audit trail
// names it.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { and, eq, sql } from 'drizzle-orm'
import type { Tx } from '../../../db/client.js'
import { newId } from '../../../db/ids.js'
import { type AuditReport, auditReport } from '../../../db/proofs/audit-verify.js'
import { capsuleFiles, capsuleSeals, capsules } from '../../../db/tables/capsules.js'
import type { ChainedEntry } from '../../../domain/audit/audit-action.js'
import { auditEvidence } from '../../../services/audit/audit-proof.js'
import { addHistory, auditRing, auditSigner, tampered } from '../../support/capsules/audit-trails.js'
import { addPerson, addTeam } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('audit-sealed', { max: 5 })
const { db } = database
afterAll(() => database.drop())

const person = await addPerson(db)
const signer = await auditSigner(db)
const teamId = await addTeam(db, person)
await addTeam(db, person)
let entries: ChainedEntry[]
let sealed: string[]

beforeAll(async () => {
  ;({ entries, sealed } = await addHistory(db, teamId, person.userId, signer))
})

const reportAfter = (harm: (tx: Tx) => Promise<unknown>): Promise<AuditReport> =>
  tampered(db, harm, async (tx) => auditReport(tx, teamId, await auditEvidence(tx, { keyRing: auditRing })))

describe('a change to a sealed capsule is reported at the entry of its seal', () => {
  type Harm = (tx: Tx, capsuleId: string) => Promise<unknown>
  const inSeal =
    (change: Partial<typeof capsuleSeals.$inferSelect>): Harm =>
    (tx, id) =>
      tx.update(capsuleSeals).set(change).where(eq(capsuleSeals.capsuleId, id))
  const inCapsule =
    (change: Partial<typeof capsules.$inferSelect>): Harm =>
    (tx, id) =>
      tx.update(capsules).set(change).where(eq(capsules.id, id))
  const inFile =
    (change: object): Harm =>
    (tx, id) =>
      tx
        .update(capsuleFiles)
        .set(change)
        .where(and(eq(capsuleFiles.capsuleId, id), eq(capsuleFiles.name, 'tasks/main/result.json')))
  const statement =
    (text: string): Harm =>
    (tx, id) =>
      tx.execute(sql.raw(text.replaceAll('ID', `'${id}'`)))

  const harms: [string, Harm][] = [
    ['manifest', statement(`update capsule_seals set manifest = manifest || ' ' where capsule_id = ID`)],
    ['manifest, no JSON any more', inSeal({ manifest: '{' })],
    ['checksums', statement(`update capsule_seals set checksums = '' where capsule_id = ID`)],
    ['root digest', inSeal({ rootDigest: `sha256:${'0'.repeat(64)}` })],
    ['capsule digest', inSeal({ capsuleDigest: `mqc:1:${'0'.repeat(64)}` })],
    ['exit code', inSeal({ exitCode: 1 })],
    ['exit message', inSeal({ exitMessage: 'fine' })],
    ['margin', inSeal({ margin: '0.5' })],
    ['sealer', inSeal({ sealedBy: '00000000-0000-0000-0000-000000000001' })],
    ['time of the seal', inSeal({ sealedAt: new Date(0) })],
    ['key of the seal', inSeal({ keyId: '0'.repeat(16) })],
    ['envelope', statement(`update capsule_seals set envelope = envelope || ' ' where capsule_id = ID`)],
    ['name', inCapsule({ name: 'another' })],
    ['description', inCapsule({ description: 'another' })],
    ['tags', inCapsule({ tags: [] })],
    ['definition', inCapsule({ definition: '{"tasks": []}' })],
    ['digest of the definition', inCapsule({ definitionSha256: '0'.repeat(64) })],
    ['backends', inCapsule({ backends: ['local'] })],
    ['budget', inCapsule({ maxBudget: 1n })],
    ['retention', inCapsule({ retentionYears: null })],
    ['regulatory framework', inCapsule({ regulatoryFramework: 'x' })],
    ['source', inCapsule({ sourceJobId: newId() })],
    ['predecessor', inCapsule({ derivedFrom: 'mqc:1:x' })],
    ['claims of an import', inCapsule({ imported: { name: 'x' } })],
    ['time of creation', inCapsule({ createdAt: new Date(0) })],
    ['content of a file', inFile({ content: Buffer.from('{}') })],
    ['digest of a file', inFile({ sha256: '0'.repeat(64) })],
    ['size of a file', inFile({ sizeBytes: 1 })],
    ['name of a file', inFile({ name: 'tasks/main/other.json' })],
    ['files, one deleted', statement(`delete from capsule_files where capsule_id = ID and name like '%timing.json'`)],
    [
      'files, one added',
      statement(`insert into capsule_files select capsule_id, 'more', sha256, size_bytes, media_type, content
        from capsule_files where capsule_id = ID limit 1`)
    ],
    ['seal, gone', statement('delete from capsule_seals where capsule_id = ID')],
    ['whole row, deleted', statement('delete from capsules where id = ID')],
    [
      'team',
      statement(`update capsules set team_id = (select id from teams where id <> team_id limit 1) where id = ID`)
    ]
  ]

  test.each(harms)('its %s', async (_what, harm) => {
    for (const id of sealed) {
      const { seq } = entries.find(({ capsuleId, action }) => capsuleId === id && action === 'capsule.sealed')!
      const report = await reportAfter((tx) => harm(tx, id))
      expect([report.firstBroken?.seq, report.firstBroken?.reason]).toEqual([seq, expect.stringContaining(id)])
    }
  })

  test('its seal replaced by that of another', async () => {
    const [one, other] = sealed as [string, string]
    const report = await reportAfter(async (tx) => {
      await tx.execute(
        sql`update capsule_seals set capsule_id = '00000000-0000-0000-0000-000000000000' where capsule_id = ${one}`
      )
      await tx.execute(sql`update capsule_seals set capsule_id = ${one} where capsule_id = ${other}`)
    })
    expect(report.firstBroken?.seq).toBe(11)
  })

  test('its state changed without an entry', async () => {
    for (const state of ['draft', 'published', 'archived'] as const) {
      const report = await reportAfter((tx) => inCapsule({ state })(tx, sealed[1]!))
      expect(report.firstBroken).toMatchObject({ seq: 22, reason: expect.stringContaining(state) })
    }
  })

  test('a capsule without an entry', async () => {
    const report = await reportAfter((tx) =>
      tx.execute(sql`insert into capsules
        select gen_random_uuid(), team_id, owner_id, name, description, tags, state, definition, definition_sha256, backends,
          max_budget_micro, retention_years, regulatory_framework, source_job_id, cloned_from, derived_from, imported,
          created_at, updated_at
        from capsules where id = ${sealed[0]!}`)
    )
    expect(report.firstBroken).toMatchObject({ seq: 41, reason: expect.stringMatching(/no entry records/) })
  })
})
