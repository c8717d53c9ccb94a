// Everything that is sealed with the key ring, table by table, for a rotation of the ring's first key. Data keys are
// passed wrapped; this file cannot open them.
import { type SQL, sql } from 'drizzle-orm'
import type { DbOrTx } from '../client.js'
import { signingKeys } from '../tables/audit.js'
import { sealedMails } from '../tables/operations.js'
import { teamSecrets, webhooks } from '../tables/teams.js'

/**
 * Where the rows are, the expression that names one, and (as JSON) what its value is bound to. Ids sort after `first`.
 */
const places = {
  team_secrets: {
    table: teamSecrets,
    id: teamSecrets.id,
    first: '00000000-0000-0000-0000-000000000000',
    bound: sql`json_build_object('teamId', team_id, 'provider', provider, 'keyName', key_name, 'id', id)`
  },
  webhooks: {
    table: webhooks,
    id: webhooks.id,
    first: '00000000-0000-0000-0000-000000000000',
    bound: sql`json_build_object('teamId', team_id, 'id', id)`
  },
  signing_keys: {
    table: signingKeys,
    id: signingKeys.keyId,
    first: '',
    bound: sql`json_build_object('keyId', key_id)`
  },
  sealed_mails: {
    table: sealedMails,
    id: sealedMails.id,
    first: '00000000-0000-0000-0000-000000000000',
    bound: sql`json_build_object('id', id)`
  }
} as const

export type SealedTable = keyof typeof places
export const sealedTables = Object.keys(places) as SealedTable[]

/** What a value of each table is bound to. */
export interface BoundTo {
  team_secrets: { teamId: string; provider: string; keyName: string; id: string }
  webhooks: { teamId: string; id: string }
  signing_keys: { keyId: string }
  sealed_mails: { id: string }
}

export interface WrappedRow<Name extends SealedTable> {
  id: string
  ringKeyId: string
  wrappedKey: Buffer
  bound: BoundTo[Name]
}

/** Rows whose data keys are wrapped by another key of the ring, in the order of their ids, after a given one. */
export async function rowsNotUnder<Name extends SealedTable>(
  db: DbOrTx,
  name: Name,
  ringKeyId: string,
  page: { after: string | null; limit: number }
): Promise<WrappedRow<Name>[]> {
  const { table, id, first, bound } = places[name]
  const rows = await db.execute<{ id: string; ringKeyId: string; wrappedKey: Buffer; bound: BoundTo[Name] }>(sql`
    select ${id} as id, ring_key_id as "ringKeyId", wrapped_key as "wrappedKey", ${bound} as bound from ${table}
    where ring_key_id <> ${ringKeyId} and ${id} > ${page.after ?? first} order by ${id} limit ${page.limit}`)
  return [...rows]
}

/**
 * Stores the same data key wrapped by another key of the ring. Returns `false` when the row was changed or deleted
 * since it was read. The condition compares the wrapped key itself, since a replaced value has a different one under
 * the same ring key.
 */
export async function rewrapRow(
  db: DbOrTx,
  name: SealedTable,
  read: { id: string; wrappedKey: Buffer },
  next: { ringKeyId: string; wrappedKey: Buffer }
): Promise<boolean> {
  const { table, id } = places[name]
  const rows =
    await db.execute(sql`update ${table} set ring_key_id = ${next.ringKeyId}, wrapped_key = ${next.wrappedKey}
    where ${id} = ${read.id} and wrapped_key = ${read.wrappedKey} returning 1`)
  return rows.length > 0
}

/** How many sealed values need each key of the ring, by its id. */
export async function ringKeysInUse(db: DbOrTx): Promise<Record<string, number>> {
  const all = sealedTables.map((name): SQL => sql`select ring_key_id from ${places[name].table}`)
  const rows = await db.execute<{ ring_key_id: string; count: number }>(sql`
    select ring_key_id, count(*)::int as count from (${sql.join(all, sql` union all `)}) as sealed
    group by ring_key_id order by ring_key_id`)
  return Object.fromEntries(rows.map((row) => [row.ring_key_id, row.count]))
}
