import { afterAll, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { newId } from '../../db/ids.js'
import { transition } from '../../db/job-transition.js'
import { createWebhook } from '../../db/webhooks.js'
import { createTestDatabase } from '../support/database.js'
import { addJob, addPerson, addTeam } from '../support/rows.js'
import { transition as old } from './zz-old-transition.js'
const database = await createTestDatabase('zz', { max: 1 })
const { db } = database
afterAll(() => database.drop())
const at = (xs: number[], q: number) => xs.sort((a, b) => a - b)[Math.floor(xs.length * q)]!.toFixed(3)
test('measure', async () => {
  const person = await addPerson(db)
  const teamId = await addTeam(db, person)
  const hook = (team: string) => createWebhook(db, { id: newId(), teamId: team, url: 'https://x.org/', events: ['job.failed'], createdBy: null, ringKeyId: 'k', wrappedKey: Buffer.alloc(60), sealedSecret: Buffer.alloc(80) })
  const round = async (name: string, n: number) => {
    const a: number[] = [], b: number[] = []
    for (let i = 0; i < n; i++)
      for (const [run, into] of (i % 2 ? [[old, a], [transition, b]] : [[transition, b], [old, a]]) as [typeof transition, number[]][]) {
        const id = await addJob(db, person, { submission: { teamId } })
        const t = performance.now()
        await db.transaction((tx) => run(tx, id, 'failed', { set: { actualCost: 0n } }))
        into.push(performance.now() - t)
      }
    process.stderr.write(`${name}: before p10 ${at(a, 0.1)} p50 ${at(a, 0.5)} ms, with p10 ${at(b, 0.1)} p50 ${at(b, 0.5)}\n`)
  }
  await round('warm', 50)
  await round('no webhooks at all', 400)
  await round('no webhooks at all', 400)
  for (let i = 0; i < 500; i++) await hook(await addTeam(db, person))
  await db.execute(sql`analyze webhooks`)
  await round('500 webhooks of others', 400)
  await hook(teamId)
  await round('one webhook', 300)
}, 300_000)
