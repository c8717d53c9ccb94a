// The recorder of queries, and the file that it writes.
import { expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import postgres from 'postgres'
import { connect } from '../../../db/client.js'
import { createTestDatabase } from '../../support/stack/database.js'
import { startQueryRecorder } from '../../support/stack/query-recorder.js'
import { merged, shortened } from '../../support/stack/recorded-queries.js'

test('what the product sends is recorded once, with its types, and what others send is not', async () => {
  const database = await createTestDatabase('query_recorder')
  const recorder = await startQueryRecorder(database.url)
  const product = connect(recorder.url, { max: 2 })
  const other = postgres(recorder.url, { max: 1 })
  try {
    for (const flag of [null, true, false])
      await product.db.transaction((tx) => tx.execute(sql`select ${flag}::boolean, ${'x'.repeat(100_000)}::text`))
    await Promise.all([product.db.execute(sql`select 'ü'`), other`select 'of a test'`])
    const found = recorder.queries()
    expect(found).toEqual([
      { text: 'select $1::boolean, $2::text', types: [16, 0] },
      { text: "select 'ü'", types: [] }
    ])
  } finally {
    await Promise.all([product.close(), other.end({ timeout: 1 })])
    await recorder.close()
    await database.drop()
  }
})

test.each([
  [
    'select * from a where b in ($1, $2, $3) and c = $4',
    [0, 0, 0, 16],
    'select * from a where b in ($1) and c = $2',
    [0, 16]
  ],
  [
    'insert into "a" ("b", "c") values ($1, default), ($2, default), ($3, lower($4)) on conflict do nothing',
    [20, 20, 17, 0],
    'insert into "a" ("b", "c") values ($1, default), ($2, lower($3)) on conflict do nothing',
    [20, 17, 0]
  ],
  ['update a set b = $2 where c = $1 and d = $2', [16, 17], 'update a set b = $1 where c = $2 and d = $1', [17, 16]]
])('%s is recorded in its shortest form', (text, types, short, shortTypes) => {
  expect(shortened({ text, types })).toEqual({ text: short, types: shortTypes })
})

test('the order in which queries were sent makes no difference', () => {
  const queries = [
    { text: 'select $1', types: [0] },
    { text: 'delete from a', types: [] },
    { text: 'select $1', types: [1184] }
  ]
  expect(merged(queries)).toEqual([
    { text: 'delete from a', types: [] },
    { text: 'select $1', types: [1184] }
  ])
  expect(merged([...queries].reverse())).toEqual(merged(queries))
})
