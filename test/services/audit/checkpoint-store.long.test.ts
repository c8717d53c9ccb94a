// Checkpoints of audit trails in a content store: at a real S3 server, and with the faults of one in memory.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { eq, sql } from 'drizzle-orm'
import { outsideCheckpoints } from '../../../apps/api/teams/audit/outside-checkpoints.js'
import { checkpoint } from '../../../db/audit/audit-checkpoints.js'
import { auditCheckpoints } from '../../../db/tables/audit.js'
import { type Checkpoint, checkpointKey, readCheckpointKey } from '../../../domain/audit/audit-checkpoint.js'
import { storeCheckpoints, storedCheckpoints } from '../../../services/audit/audit-checkpoint-store.js'
import { writeCheckpoints } from '../../../services/audit/audit-checkpointing.js'
import { proveAudit } from '../../../services/audit/audit-proof.js'
import { CONTENT_STORE_PLACE, readCheckpointSetting } from '../../../services/audit/checkpoint-place.js'
import { readS3Settings } from '../../../services/content-store/s3-settings.js'
import { createS3Store, type S3Store } from '../../../services/content-store/s3-store.js'
import { createInstallationSigner } from '../../../services/keys/signer.js'
import { append, auditRing } from '../../support/capsules/audit-trails.js'
import { createMemoryStore } from '../../support/content-store/memory-store.js'
import { type S3Server, startS3Server } from '../../support/content-store/s3-server.js'
import { hasS3Server, s3Test } from '../../support/content-store/s3-test.js'
import { addPerson, addTeam } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'

const memory = createMemoryStore()
const database = await createTestDatabase('checkpoint_store', { contentStore: memory })
const { db } = database
const person = await addPerson(db)
const signer = createInstallationSigner(db, auditRing)
let server: S3Server
let locked: S3Store
let plain: S3Store
beforeAll(async () => {
  if (!hasS3Server) return
  server = await startS3Server('checkpoints')
  locked = createS3Store(readS3Settings({ ...server.environment(), CONTENT_STORE_LOCK: 'governance' })!)
  plain = createS3Store(readS3Settings({ ...server.environment(), CONTENT_STORE: 's3://checkpoints/plain' })!)
}, 60_000)
afterAll(async () => {
  locked?.close()
  plain?.close()
  await server?.close()
  await database.drop()
})

let teamId: string
beforeEach(async () => {
  memory.isAway = false
  memory.objects.clear()
  teamId = await addTeam(db, person)
})

/** Adds entries and signs the last of them. */
async function sign(entries: number): Promise<void> {
  for (let more = 0; more < entries; more++) await append(db, { teamId })
  const current = await signer()
  await db.transaction((tx) => checkpoint(tx, teamId, current))
}
const signed = (): Promise<Checkpoint[]> =>
  db
    .select({
      teamId: auditCheckpoints.teamId,
      seq: auditCheckpoints.seq,
      hash: auditCheckpoints.hash,
      at: auditCheckpoints.at,
      keyId: auditCheckpoints.keyId,
      signature: auditCheckpoints.signature
    })
    .from(auditCheckpoints)
    .where(eq(auditCheckpoints.teamId, teamId))
    .orderBy(auditCheckpoints.seq)
const outside = () => outsideCheckpoints(db, CONTENT_STORE_PLACE, teamId)
const away = { code: 'content_store_unavailable' }

test('the name of an object is its whole checkpoint, and no part of it is too long for a file', async () => {
  await sign(1)
  const [point] = await signed()
  const key = checkpointKey(point!)
  expect(readCheckpointKey(key)).toEqual(point)
  expect(Math.max(...key.split('/').map(({ length }) => length))).toBeLessThanOrEqual(255)
  for (const other of ['', key.slice(1), `${key}.more`, key.replace(/T\d/, 'T'), 'x/y'])
    expect(readCheckpointKey(other)).toBeNull()
})

test('the content store must be there to be chosen', () => {
  const chosen = { AUDIT_CHECKPOINTS_FILE: ` ${CONTENT_STORE_PLACE} ` }
  expect(readCheckpointSetting(chosen, true)).toBe(CONTENT_STORE_PLACE)
  expect(() => readCheckpointSetting(chosen, false)).toThrow('CONTENT_STORE is not set')
  expect(readCheckpointSetting({ AUDIT_CHECKPOINTS_FILE: '/var/points' }, false)).toBe('/var/points')
  expect(readCheckpointSetting({}, false)).toBeNull()
})

describe('at an S3 server', () => {
  s3Test('all are listed by team, also more than a page has, and each once', async () => {
    await sign(1)
    const [first] = await signed()
    const points = Array.from({ length: 1_100 }, (_, at) => ({ ...first!, seq: at + 1 }))
    await storeCheckpoints(plain, points)
    await storeCheckpoints(plain, points.slice(0, 5))
    const other = { ...first!, teamId: await addTeam(db, person) }
    await storeCheckpoints(plain, [other])
    expect((await storedCheckpoints(plain, teamId))!.byTeam).toEqual(new Map([[teamId, points]]))
    expect((await storedCheckpoints(plain))!.byTeam.size).toBe(2)
  })

  s3Test('one that somebody has removed is there all the same where objects are locked', async () => {
    await sign(2)
    const [point] = await signed()
    await storeCheckpoints(locked, [point!])
    await storeCheckpoints(locked, [point!])
    await locked.remove(`audit-checkpoints/${checkpointKey(point!)}`).catch(() => {})
    expect(await server.keys()).not.toContain(`audit-checkpoints/${checkpointKey(point!)}`)
    expect((await storedCheckpoints(locked, teamId))!.byTeam.get(teamId)).toEqual([point])
  })

  s3Test('an object that is no checkpoint is counted, and one of another prefix is not seen', async () => {
    await plain.write(`audit-checkpoints/${teamId}/note.txt`, Buffer.from('x'), null)
    expect(await storedCheckpoints(plain, teamId)).toEqual({ byTeam: new Map(), unreadable: [1] })
    const empty = createS3Store(readS3Settings({ ...server.environment(), CONTENT_STORE: 's3://checkpoints/empty' })!)
    expect(await storedCheckpoints(empty, teamId)).toBeNull()
    empty.close()
  })
})

describe('what an api compares', () => {
  test('reveals a trail that was truncated together with its checkpoints in the database', async () => {
    await sign(3)
    await writeCheckpoints(db, CONTENT_STORE_PLACE)
    const prove = async () => proveAudit(db, teamId, { keyRing: auditRing, exported: (await outside()).points })
    expect(await prove()).toMatchObject({ ok: true })
    await db.transaction(async (tx) => {
      await tx.execute(sql`set local session_replication_role = replica`)
      await tx.execute(sql`delete from audit_checkpoints where team_id = ${teamId}`)
      await tx.execute(sql`delete from audit_entries where team_id = ${teamId} and seq > 1`)
      await tx.execute(sql`update audit_heads set seq = 1, hash = (select hash from audit_entries
        where team_id = ${teamId}) where team_id = ${teamId}`)
    })
    expect(await prove()).toMatchObject({ ok: false, firstBroken: { seq: 2 } })
  })

  test('proves nothing when the store has lost them all', async () => {
    await sign(1)
    await writeCheckpoints(db, CONTENT_STORE_PLACE)
    memory.objects.clear()
    expect(await outside()).toMatchObject({ fails: true, reason: expect.stringContaining('has no checkpoint') })
  })

  test('waits for a store that is away: nothing is marked as written, and no proof is made', async () => {
    await sign(1)
    memory.isAway = true
    await expect(writeCheckpoints(db, CONTENT_STORE_PLACE)).rejects.toMatchObject(away)
    await expect(outside()).rejects.toMatchObject(away)
    memory.isAway = false
    expect(await writeCheckpoints(db, CONTENT_STORE_PLACE)).toBeGreaterThanOrEqual(1)
    expect((await outside()).points).toHaveLength(1)
  })
})
