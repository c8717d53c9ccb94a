// Checkpoints of audit trails, from the growth of a trail to the line of the file outside the database.
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { eq, sql } from 'drizzle-orm'
import { pino } from 'pino'
import { startAuditCheckpointSweep } from '../../../apps/worker/sweeps/audit-checkpoint-sweep.js'
import { createSweepReports } from '../../../apps/worker/sweeps/sweep-reports.js'
import { newId } from '../../../db/ids.js'
import { auditCheckpoints } from '../../../db/tables/audit.js'
import type { Checkpoint } from '../../../domain/audit/audit-checkpoint.js'
import { appendCheckpoints, readCheckpoints } from '../../../services/audit/audit-checkpoint-file.js'
import { signGrownTrails, writeCheckpoints } from '../../../services/audit/audit-checkpointing.js'
import { proveAudit } from '../../../services/audit/audit-proof.js'
import { createInstallationSigner } from '../../../services/keys/signer.js'
import { addDraft, append, auditRing, seal } from '../../support/capsules/audit-trails.js'
import { eventually } from '../../support/eventually.js'
import { throwFailure } from '../../support/failures.js'
import { addPerson, addTeam } from '../../support/jobs/rows.js'
import { longTest } from '../../support/lane.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('audit-checkpoints')
const { db } = database
const folder = mkdtempSync(join(tmpdir(), 'qjs-checkpoints-'))
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await database.drop()
})

const person = await addPerson(db)
const means = { db, keyRing: auditRing, signer: createInstallationSigner(db, auditRing) }
let teamId: string
let path: string
beforeEach(async () => {
  teamId = await addTeam(db, person)
  path = join(folder, newId(), 'checkpoints.jsonl')
})

const ofTeam = () => db.select().from(auditCheckpoints).where(eq(auditCheckpoints.teamId, teamId))
const exported = async () => (existsSync(path) ? ((await readCheckpoints(path)).byTeam.get(teamId) ?? []) : [])
const prove = async () => proveAudit(db, teamId, { keyRing: auditRing, exported: await exported() })

describe('a trail that grew', () => {
  test('is signed once', async () => {
    for (let more = 0; more < 3; more++) await append(db, { teamId })
    expect((await signGrownTrails(means, 0, throwFailure)).findings).toEqual([])
    await signGrownTrails(means, 0, throwFailure)
    expect(await ofTeam()).toEqual([expect.objectContaining({ seq: 3, exportedAt: null })])
    expect(await prove()).toMatchObject({ ok: true, checkpoints: 1, signedUpTo: 3 })
  })

  test('gets no signature after it was rewritten, and is reported until it is repaired', async () => {
    for (let more = 0; more < 3; more++) await append(db, { teamId })
    await db.transaction(async (tx) => {
      await tx.execute(sql`set local session_replication_role = replica`)
      await tx.execute(sql`update audit_entries set actor = 'user:x' where team_id = ${teamId} and seq = 2`)
    })
    for (let pass = 0; pass < 2; pass++)
      expect((await signGrownTrails(means, 0, throwFailure)).findings).toEqual([
        expect.stringContaining(`team ${teamId}, entry 2: the entry was changed`)
      ])
    expect(await ofTeam()).toEqual([])
    await db.transaction(async (tx) => {
      await tx.execute(sql`set local session_replication_role = replica`)
      await tx.execute(sql`delete from audit_heads where team_id = ${teamId}`)
      await tx.execute(sql`delete from audit_entries where team_id = ${teamId}`)
    })
  })
})

describe('the file outside the database', () => {
  test('gets each checkpoint, and only its owner can read it', async () => {
    await append(db, { teamId })
    await signGrownTrails(means, 0, throwFailure)
    await seal(db, await means.signer(), await addDraft(db, teamId, person.userId))
    expect(await writeCheckpoints(db, path)).toBeGreaterThanOrEqual(2)
    expect(await writeCheckpoints(db, path)).toBe(0)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect((await exported()).map(({ seq }) => seq)).toEqual([1, 3])
    expect(await prove()).toMatchObject({ ok: true, checkpoints: 4, signedUpTo: 3, seals: 1 })
  })

  test('loses no checkpoint when its writer dies at any byte, or before the row is updated', async () => {
    await append(db, { teamId })
    await signGrownTrails(means, 0, throwFailure)
    const points = (await ofTeam()) as Checkpoint[]
    await appendCheckpoints(path, points)
    const whole = readFileSync(path)
    for (let size = 0; size <= whole.length; size++) {
      writeFileSync(path, whole)
      truncateSync(path, size)
      await appendCheckpoints(path, points)
      const { byTeam, unreadable } = await readCheckpoints(path)
      expect(byTeam.get(teamId)).toHaveLength(1)
      // A torn checkpoint is on a separate line, unless only its line break was missing.
      expect(unreadable.length).toBe(size > 0 && size < whole.length - 1 ? 1 : 0)
    }
  })

  test('is readable with lines that are not checkpoints', async () => {
    await appendCheckpoints(path, [])
    appendFileSync(path, 'null\n[]\n{"team_id":1}\n{"team_id":"a","seq":1.5}\n\n"x"\n')
    expect(await readCheckpoints(path)).toEqual({ byTeam: new Map(), unreadable: [1, 2, 3, 4, 6] })
  })

  test('stops the export while it cannot be written, and resumes it afterwards', async () => {
    await append(db, { teamId })
    await signGrownTrails(means, 0, throwFailure)
    writeFileSync(join(folder, 'in-the-way'), '')
    await expect(writeCheckpoints(db, join(folder, 'in-the-way', 'file'))).rejects.toThrow(/EEXIST|ENOTDIR/)
    expect(await ofTeam()).toEqual([expect.objectContaining({ exportedAt: null })])
    await writeCheckpoints(db, path)
    expect(await exported()).toHaveLength(1)
  })
})

longTest('the sweep signs and writes checkpoints, and reports both', async () => {
  await append(db, { teamId })
  const log = pino({ level: 'silent' })
  const reports = createSweepReports(db, log, () => performance.now())
  const loops = startAuditCheckpointSweep({ ...means, place: path, reports, log })
  try {
    await eventually(async () => expect(await ofTeam()).toHaveLength(1))
    await eventually(async () => expect(await exported()).toHaveLength(1))
  } finally {
    await Promise.all(loops.map((loop) => loop.close()))
  }
  const noted = await db.execute<{ name: string; error: string | null }>(
    sql`select name, error from sweeps where name like 'audit%' order by name`
  )
  expect([...noted]).toEqual([
    { name: 'audit', error: null },
    { name: 'audit_file', error: null }
  ])
})
