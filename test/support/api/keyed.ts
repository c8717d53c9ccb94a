// Requests with an Idempotency-Key.
import { sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.js'
import { submission } from '../jobs/builders.js'
import { type ApiResponse, type Headers, responseOf, type TestUser } from './api.js'

let keys = 0
export const newKey = () => `key ${++keys}`
export const keyed = (key: string): Headers => ({ 'idempotency-key': key })
export const isReplay = ({ headers }: ApiResponse) => headers['idempotency-replayed'] === 'true'

export const times = <T>(count: number, ask: (at: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, at) => ask(at)))
export const statusesOf = (answers: ApiResponse[]) => answers.map(({ status }) => status).sort()

export const submit = (user: TestUser, key: string, changes = {}) =>
  user.ask('POST', '/api/jobs/submit', submission(changes), keyed(key))
export const jobsOf = async (user: TestUser): Promise<number> => (await user.get('/api/jobs')).body.total

/** Through a socket of its own. */
export async function send(
  url: string,
  user: TestUser,
  path: string,
  body: unknown,
  key: string
): Promise<ApiResponse> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { cookie: user.cookie, 'content-type': 'application/json', ...keyed(key) },
    body: JSON.stringify(body)
  })
  return responseOf(response.status, Object.fromEntries(response.headers), await response.text())
}

/** The stored row of a key. */
export async function keptOf(db: Db, key: string): Promise<Record<string, unknown> | undefined> {
  const [row] = await db.execute(sql`select * from idempotency_keys where key = ${key}`)
  return row
}
