import { afterAll, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { newId } from '../../db/ids.js'
import { transition } from '../../db/job-transition.js'
import { createWebhook } from '../../db/webhooks.js'
import { takeDelivery } from '../../db/webhook-deliveries.js'
import { createTestDatabase } from '../support/database.js'
import { addJob, addPerson, addTeam } from '../support/rows.js'
import { transition as old } from './zz-old-transition.js'
const database = await createTestDatabase('zz', { max: 1 })
const { db } = database
afterAll(() => database.drop())
const median = (xs: number[]) => xs.sort((a, b) => a - b)[Math.floor(xs.length / 2)]!
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
    process.stderr.write(`${name}: before ${median(a).toFixed(3)} ms, with ${median(b).toFixed(3)} ms (transaction of one transition)\n`)
  }
  await round('warm', 100)
  await round('no webhooks at all', 1000)
  await round('no webhooks at all', 1000)
  for (let i = 0; i < 2000; i++) await hook(await addTeam(db, person))
  await db.execute(sql`analyze webhooks`)
  await round('2000 webhooks of others', 1000)
  await hook(teamId)
  await round('one webhook', 1000)
  for (let i = 0; i < 19; i++) await hook(teamId)
  await round('20 webhooks', 300)
  const dead = newId()
  await createWebhook(db, { id: dead, teamId, url: 'https://x.org/', events: ['job.failed'], createdBy: null, ringKeyId: 'k', wrappedKey: Buffer.alloc(60), sealedSecret: Buffer.alloc(80) })
  await db.execute(sql`delete from webhook_deliveries`)
  await db.execute(sql`insert into webhook_deliveries (id, webhook_id, event, payload, state, next_at) select gen_random_uuid(), ${dead}, 'job.failed', repeat('x', 500), 'pending', now() + interval '1 hour' from generate_series(1, 100000) n`)
  await db.execute(sql`vacuum analyze webhook_deliveries`)
  const look = async (name: string, except: string[]) => {
    const ts: number[] = []
    for (let i = 0; i < 30; i++) { const t = performance.now(); await takeDelivery(db, except); ts.push(performance.now() - t) }
    process.stderr.write(`${name}: look ${median(ts).toFixed(3)} ms\n`)
  }
  await look('100000 waiting, none due', [])
  await db.execute(sql`update webhook_deliveries set next_at = now() - interval '1 hour'`)
  await db.execute(sql`vacuum analyze webhook_deliveries`)
  await look('100000 due of a webhook left alone', [dead])
  await look('100000 due, taken', [])
}, 300_000)
