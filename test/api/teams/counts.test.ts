// How many capsules, scripts and versions a team can have. All but the last are copies that the database makes of one.
import { afterAll, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { startApi } from '../../support/api/api.js'
import { bellTask } from '../../support/capsules/capsule-bench.js'
import { bellQasm3 } from '../../support/jobs/builders.js'

const api = await startApi('counts')
const { db } = api.database
afterAll(() => api.close())

const ada = await api.signUpWithTeam()
const capsule = (name: string) => ada.post('/api/capsules/create', { name, workflow: { tasks: [bellTask] } })
const script = (name: string) => ada.post('/api/scripts/upload', { name, script_content: bellQasm3() })

test('a team has at most 10,000 capsules', async () => {
  expect((await capsule('the first')).status).toBe(201)
  await db.execute(sql`insert into capsules
    select copy.* from capsules c, generate_series(1, 9998) n,
      jsonb_populate_record(null::capsules, to_jsonb(c) || jsonb_build_object('id', md5(n::text))) copy
    where c.team_id = ${ada.teamId}`)
  expect((await capsule('the last')).status).toBe(201)
  expect(await capsule('one more')).toMatchObject({
    status: 409,
    body: { error: 'This team has 10000 capsules, which is the limit; delete some first' }
  })
})

test('a team has at most 1,000 scripts', async () => {
  expect((await script('the first')).status).toBe(200)
  await db.execute(sql`insert into scripts
    select copy.* from scripts s, generate_series(1, 998) n,
      jsonb_populate_record(null::scripts, to_jsonb(s) || jsonb_build_object('id', gen_random_uuid(), 'slug', 'copy-' || n)) copy
    where s.team_id = ${ada.teamId}`)
  expect((await script('the last')).status).toBe(200)
  expect(await script('one more')).toMatchObject({
    status: 409,
    body: { error: 'This team has 1000 scripts, which is the limit; delete some first' }
  })
})

test('a script has at most 1,000 versions', async () => {
  const [row] = await db.execute<{ id: string }>(
    sql`update scripts set version = 999 where team_id = ${ada.teamId} and name = 'the last' returning id`
  )
  const save = (text: string) =>
    ada.ask('PATCH', `/api/scripts/${row!.id}`, { script_content: `${bellQasm3()}// ${text}\n` })
  expect((await save('the last')).status).toBe(200)
  expect(await save('one more')).toMatchObject({
    status: 409,
    body: { error: 'This script has 1000 versions, which is the limit; save it as a new script' }
  })
})
