// Large contents move to the content store, and are whole in one place at every moment.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { sealedContent } from '../../../db/audit/audit-seals.js'
import { connect } from '../../../db/client.js'
import { ContentLost, contentKey, objectSlices } from '../../../db/content-store.js'
import { bringBack, copyToStore, leaveToStore, removeObject, takeUnnamed } from '../../../db/contents/content-moves.js'
import { type ContentRow, movingContents, namedContents, unmovedContents } from '../../../db/contents/content-rows.js'
import { beginJob } from '../../../db/job-steps/job-steps.js'
import { findArtifact, sha256Of } from '../../../db/jobs/artifacts.js'
import { completeAttempt, openAttempt, resultContent, resultText } from '../../../db/jobs/attempts.js'
import { SLICE_BYTES, slicesOf, wholeOf } from '../../../db/stored-content.js'
import { addCapsuleOfJob, addSealedCapsule, finishJob } from '../../support/capsules/capsule-rows.js'
import { createMemoryStore } from '../../support/content-store/memory-store.js'
import { addJob, addPerson, addTeam } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'

const store = createMemoryStore()
const database = await createTestDatabase('content_moves', { contentStore: store })
const { db } = database
afterAll(() => database.drop())
const ada = await addPerson(db)
const teamId = await addTeam(db, ada)

const LARGE = 3 * SLICE_BYTES + 5
const result = JSON.stringify({ text: 'x'.repeat(LARGE - 11) })
const page = { except: [], max: 1000 }
const unmoved = (settledSeconds = 0) => unmovedContents(db, 'artifacts', { settledSeconds, ...page })
const moving = (seconds = 0) => movingContents(db, 'artifacts', { seconds, ...page })
const unnamed = async () =>
  (await db.execute<{ key: string }>(sql`select key from unnamed_objects order by key`)).map(({ key }) => key)

beforeEach(async () => {
  store.objects.clear()
  store.isAway = false
  store.onWrite = () => {}
  await db.execute(sql`delete from artifacts`)
  await db.execute(sql`delete from unnamed_objects`)
})

async function addResult(text = result): Promise<{ id: string; sha256: string }> {
  const id = await addJob(db, ada, { submission: { teamId } })
  await finishJob(db, id, text, [])
  return { id, sha256: sha256Of(Buffer.from(text)) }
}

async function copied(): Promise<ContentRow> {
  const [row] = await unmoved()
  expect(await copyToStore(db, row!)).toBe(true)
  return (await moving())[0]!
}

async function moved(): Promise<ContentRow> {
  const row = await copied()
  expect(await leaveToStore(db, row)).toBe(true)
  return row
}

const inRow = async (): Promise<boolean> => {
  const [row] = await db.execute<{ here: boolean }>(sql`select content is not null as here from artifacts`)
  return row!.here
}

describe('a moved content', () => {
  test('is read as the same bytes, whole, in slices and within a transaction', async () => {
    const { id, sha256 } = await addResult()
    await moved()
    expect(await inRow()).toBe(false)
    expect([...store.objects.values()][0]!.content.toString()).toBe(result)
    expect(await resultText(db, id, sha256)).toBe(result)
    await db.transaction(async (tx) => {
      const slices: Buffer[] = []
      for await (const slice of slicesOf(tx, (await resultContent(tx, id, sha256))!)) slices.push(slice)
      expect(Buffer.concat(slices).toString()).toBe(result)
    })
  })

  test('of a reader that has begun before it moved is read to its end', async () => {
    const { id, sha256 } = await addResult()
    const row = await copied()
    const slices = slicesOf(db, (await resultContent(db, id, sha256))!)
    const read = [(await slices.next()).value as Buffer]
    await leaveToStore(db, row)
    for await (const slice of slices) read.push(slice)
    expect(Buffer.concat(read).toString()).toBe(result)
  })

  test('whose object has other bytes is refused, and its last bytes are not sent', async () => {
    const { id, sha256 } = await addResult()
    const { objectKey } = await moved()
    const kept = store.objects.get(objectKey!)!
    kept.content[LARGE - 1]! ^= 1
    const content = (await resultContent(db, id, sha256))!
    await expect(wholeOf(db, content)).rejects.toThrow(ContentLost)
    let sent = 0
    const reading = async () => {
      for await (const slice of slicesOf(db, content)) sent += slice.length
    }
    await expect(reading()).rejects.toThrow('has other bytes')
    expect(sent).toBeLessThan(LARGE)
  })

  test.each([
    ['shorter', (content: Buffer) => content.subarray(1), 'bytes of'],
    ['longer', (content: Buffer) => Buffer.concat([content, Buffer.alloc(1)]), 'more than']
  ])('whose object is %s is refused', async (_, change, message) => {
    const { id, sha256 } = await addResult()
    const { objectKey } = await moved()
    const kept = store.objects.get(objectKey!)!
    store.objects.set(objectKey!, { ...kept, content: change(kept.content) })
    await expect(resultText(db, id, sha256)).rejects.toThrow(message)
  })

  test('is unavailable, with an error that says so, while the store is away or not set', async () => {
    const { id, sha256 } = await addResult()
    await moved()
    store.isAway = true
    await expect(resultText(db, id, sha256)).rejects.toMatchObject({ code: 'content_store_unavailable' })
    const without = connect(database.url, { max: 1 })
    await expect(resultText(without.db, id, sha256)).rejects.toMatchObject({ code: 'content_store_unavailable' })
    await without.close()
  })

  test('keeps away releases that cannot read it', async () => {
    const minimum = async () =>
      (await db.execute<{ minimum: number }>(sql`select minimum_migrations as minimum from schema_compatibility`))[0]!
        .minimum
    await db.execute(sql`update schema_compatibility set minimum_migrations = 0`)
    await addResult()
    const row = await copied()
    expect(await minimum()).toBe(0)
    await leaveToStore(db, row)
    expect(await minimum()).toBe(29)
  })

  test('comes back to its row, whence it can move again', async () => {
    const { id, sha256 } = await addResult()
    const { objectKey } = await moved()
    const [named] = await namedContents(db, 'artifacts', { after: null, max: 10 })
    await bringBack(db, named!)
    store.isAway = true
    expect(await resultText(db, id, sha256)).toBe(result)
    expect(await unnamed()).toEqual([objectKey])
    expect(await unmoved()).toHaveLength(1)
  })
})

describe('a content stays in its row', () => {
  test('while its job is not over, or has been over for a short time only', async () => {
    const id = await addJob(db, ada, { submission: { teamId } })
    await beginJob(db, id, { generation: 1 })
    const number = await openAttempt(db, id, { generation: 1 })
    await completeAttempt(db, id, number!, result)
    expect(await unmoved()).toEqual([])
    await addResult()
    expect(await unmoved()).toHaveLength(1)
    expect(await unmoved(60)).toEqual([])
  })

  test('when it is small', async () => {
    await addResult(JSON.stringify('x'.repeat(65_533)))
    expect(await unmoved()).toEqual([])
    await addResult(JSON.stringify('x'.repeat(65_534)))
    expect(await unmoved()).toHaveLength(1)
  })

  test('when it is not the one that its digest names', async () => {
    await addResult()
    await db.execute(sql`update artifacts set content = overlay(content placing 'y'::bytea from 20)`)
    await expect(copyToStore(db, (await unmoved())[0]!)).rejects.toThrow('not the one that its digest names')
    expect([await inRow(), store.objects.size, await unnamed()]).toEqual([true, 0, []])
  })

  test('when the sweep leaves it out', async () => {
    await addResult()
    await addResult(`${result} `)
    const [first] = await unmoved()
    const others = await unmovedContents(db, 'artifacts', { ...page, settledSeconds: 0, except: [first!.name] })
    expect(others.map(({ name }) => name)).not.toContain(first!.name)
    expect(others).toHaveLength(1)
  })
})

describe('an object', () => {
  test('that the store has lost or changed is named no longer, and the content is copied again', async () => {
    for (const spoil of [
      (key: string) => store.objects.delete(key),
      (key: string) => store.objects.get(key)!.content.fill(0)
    ]) {
      await db.execute(sql`delete from artifacts`)
      const { id, sha256 } = await addResult()
      const row = await copied()
      spoil(row.objectKey!)
      expect(await leaveToStore(db, row)).toBe(false)
      expect(await inRow()).toBe(true)
      expect(await unnamed()).toContain(row.objectKey)
      expect((await moved()).objectKey).not.toBe(row.objectKey)
      expect(await resultText(db, id, sha256)).toBe(result)
    }
  })

  test('whose upload ended without a word is named by no row, and removed after its days', async () => {
    await addResult()
    store.onWrite = () => {
      throw new Error('the connection was lost')
    }
    await expect(copyToStore(db, (await unmoved())[0]!)).rejects.toThrow('the connection was lost')
    expect([await inRow(), await moving()]).toEqual([true, []])
    const [key] = await unnamed()
    // The store got it all the same, after the writer had given up.
    store.objects.set(key!, { content: Buffer.from('late'), keepUntil: null })
    expect(await takeUnnamed(db, { seconds: 60, max: 10 })).toEqual([])
    await db.execute(sql`update unnamed_objects set since = since - interval '61 seconds'`)
    expect(await takeUnnamed(db, { seconds: 60, max: 10 })).toEqual([key])
    await removeObject(db, key!)
    expect([store.objects.size, await unnamed()]).toEqual([0, []])
  })

  test('that is being removed is never named', async () => {
    await addResult()
    store.onWrite = async (key) => {
      await db.execute(sql`update unnamed_objects set since = since - interval '1 hour'`)
      expect(await takeUnnamed(db, { seconds: 60, max: 10 })).toEqual([key])
    }
    expect(await copyToStore(db, (await unmoved())[0]!)).toBe(false)
    expect([await inRow(), await moving()]).toEqual([true, []])
  })

  test('is noted for its removal when its row is deleted, and is kept as long as a row names it', async () => {
    await addResult()
    const row = await moved()
    expect(await unnamed()).toEqual([])
    await db.execute(sql`delete from artifacts where sha256 = ${row.sha256}`)
    expect(await unnamed()).toEqual([row.objectKey])
  })

  test('that the store refuses to remove is tried again later, and one that cannot be reached at once', async () => {
    await db.execute(
      sql`insert into unnamed_objects (key, since, removing) values ('k', now() - interval '1 hour', true)`
    )
    const age = async () =>
      (
        await db.execute<{ old: boolean }>(
          sql`select since < now() - interval '59 minutes' as old from unnamed_objects`
        )
      )[0]
    store.isAway = true
    await expect(removeObject(db, 'k')).rejects.toMatchObject({ code: 'content_store_unavailable' })
    expect(await age()).toEqual({ old: true })
    store.isAway = false
    const { remove } = store
    store.remove = async () => {
      throw new Error('the object is locked')
    }
    await expect(removeObject(db, 'k')).rejects.toThrow('the object is locked')
    store.remove = remove
    expect(await age()).toEqual({ old: false })
  })

  test('of two sweeps at once is one, whichever names it first', async () => {
    const { id, sha256 } = await addResult()
    const [row] = await unmoved()
    const named = await Promise.all([copyToStore(db, row!), copyToStore(db, row!)])
    expect(named.sort()).toEqual([false, true])
    expect(await moving()).toHaveLength(1)
    expect(await unnamed()).toHaveLength(1)
    expect(await resultText(db, id, sha256)).toBe(result)
  })

  test('is read whole from any place, which a reader that goes on needs', async () => {
    const content = randomBytes(100_000)
    const key = contentKey(sha256Of(content), 'x')
    await store.write(key, content, null)
    const slices: Buffer[] = []
    for await (const slice of objectSlices(db, key, content.length, 12_345)) slices.push(slice)
    expect(Buffer.concat(slices).equals(content.subarray(12_345))).toBe(true)
  })
})

describe('a file of a sealed capsule', () => {
  const files = (seconds = 0) => unmovedContents(db, 'capsule_files', { settledSeconds: seconds, ...page })

  async function enlarge(id: string): Promise<void> {
    // As large as a real one; the seal is made afterwards.
    const content = Buffer.from('x'.repeat(100_000))
    await db.execute(sql`insert into capsule_files (capsule_id, name, sha256, size_bytes, media_type, content)
      values (${id}, 'tasks/main/artifacts/large.txt', ${sha256Of(content)}, ${content.length}, 'text/plain', ${content})`)
  }

  test('moves and comes back, is kept for its retention, and stays unchanged to the proof of its seal', async () => {
    const open = await addCapsuleOfJob(db, ada, teamId)
    await enlarge(open)
    expect(await files()).toEqual([])
    const id = await addSealedCapsule(db, ada, teamId, undefined, async (unsealed) => {
      await enlarge(unsealed)
      // As if its creation had asked for it.
      await db.transaction(async (tx) => {
        await tx.execute(sql`set local session_replication_role = replica`)
        await tx.execute(sql`update capsules set retention_years = 3 where id = ${unsealed}`)
      })
    })
    const before = await sealedContent(db, id)
    const [file] = await files()
    expect(file).toMatchObject({ sizeBytes: 100_000 })
    await copyToStore(db, file!)
    const [there] = await movingContents(db, 'capsule_files', { seconds: 0, ...page })
    const years = store.objects.get(there!.objectKey!)!.keepUntil!.getUTCFullYear() - new Date().getUTCFullYear()
    expect(years).toBe(3)
    expect(await leaveToStore(db, there!)).toBe(true)
    expect(await sealedContent(db, id)).toEqual(before)
    store.objects.get(there!.objectKey!)!.content[0]! ^= 1
    expect((await sealedContent(db, id))!.files.find(({ name }) => /large/.test(name))).toMatchObject({
      actualSha256: null
    })
    store.objects.get(there!.objectKey!)!.content[0]! ^= 1
    await bringBack(db, (await namedContents(db, 'capsule_files', { after: null, max: 10 }))[0]!)
    expect(await sealedContent(db, id)).toEqual(before)
  })

  test.each([
    ['its content', sql`content = 'y'::bytea`],
    ['its digest', sql`sha256 = repeat('a', 64)`],
    ['its size', sql`size_bytes = 5`],
    ['its name', sql`name = 'other'`],
    ['its media type', sql`media_type = 'text/html'`],
    ['content and key', sql`content = 'y'::bytea, object_key = 'k'`]
  ])('is refused a change of %s', async (_, change) => {
    const id = await addSealedCapsule(db, ada, teamId, undefined, enlarge)
    const changing = db.execute(sql`update capsule_files set ${change} where capsule_id = ${id}`)
    await expect(changing).rejects.toMatchObject({ cause: { message: expect.stringContaining('never changed') } })
    const coming = db.execute(sql`update capsule_files set content = null, object_key = 'k' where capsule_id = ${id}`)
    await coming
    const back = db.execute(sql`update capsule_files set content = 'y'::bytea where capsule_id = ${id}`)
    await expect(back).rejects.toMatchObject({ cause: { message: expect.stringContaining('never changed') } })
  })

  test('cannot be without both its content and its object', async () => {
    const id = await addSealedCapsule(db, ada, teamId)
    const emptying = db.execute(sql`update capsule_files set content = null where capsule_id = ${id}`)
    await expect(emptying).rejects.toMatchObject({ cause: { constraint_name: 'capsule_files_content_check' } })
  })
})

test('files of a job move as its result does, each by its name', async () => {
  const id = await addJob(db, ada, { submission: { teamId } })
  const content = randomBytes(70_000)
  await finishJob(db, id, '{}', [{ name: 'state.bin', mediaType: 'application/octet-stream', content }])
  await moved()
  const found = await findArtifact(db, id, 'state.bin')
  expect((await wholeOf(db, found!.stored))!.equals(content)).toBe(true)
})
