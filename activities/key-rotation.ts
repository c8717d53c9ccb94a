// A change of the ring's first key: everything sealed gets its own key wrapped by that one. Safe beside running apis and
// workers, which hold the same ring: each row changes in one conditional write, and whoever reads it before or after
// can open it. Stopped half-way it goes on where it was, since a row says which key wraps it.
import type { Db } from '../db/client.js'
import { rewrapRow, ringKeysInUse, secretsNotUnder, webhooksNotUnder } from '../db/secrets.js'
import { teamSecrets, webhooks } from '../db/tables/teams.js'
import {
  type KeyRing,
  type SealContext,
  secretContext,
  UnopenableError,
  type WrappedKey,
  webhookContext
} from './key-ring.js'

const BATCH = 200
/** A row that was replaced while it was looked at is looked at again; after this many looks somebody uses an older ring. */
const PASSES_MAX = 5

export interface Rotation {
  /** Sealed values now under the ring's first key that were not before, by table. */
  rewrapped: { team_secrets: number; webhooks: number }
  /** Rows that no key of the ring opens; they stay as they are. */
  unopenable: { table: SealedTable; id: string; ringKeyId: string }[]
  /** How many sealed values there are now under each key. */
  inUse: Record<string, number>
  /** Keys of the ring that nothing in the database needs any more. */
  removable: string[]
}

export type SealedTable = keyof Rotation['rewrapped']

interface Row extends WrappedKey {
  id: string
  context: SealContext
}

/** @param progress hears, after each batch, how many rows have been re-wrapped so far. */
export async function rotateKeys(db: Db, keyRing: KeyRing, progress: (rewrapped: number) => void): Promise<Rotation> {
  const { currentKeyId } = keyRing
  const rewrapped: Rotation['rewrapped'] = { team_secrets: 0, webhooks: 0 }
  const unopenable: Rotation['unopenable'] = []
  const sources = {
    team_secrets: {
      table: teamSecrets,
      page: async (after: string): Promise<Row[]> =>
        (await secretsNotUnder(db, currentKeyId, { after, limit: BATCH })).map((row) => ({
          ...row,
          context: secretContext(row)
        }))
    },
    webhooks: {
      table: webhooks,
      page: async (after: string): Promise<Row[]> =>
        (await webhooksNotUnder(db, currentKeyId, { after, limit: BATCH })).map((row) => ({
          ...row,
          context: webhookContext(row)
        }))
    }
  }

  for (const name of ['team_secrets', 'webhooks'] as const) {
    const { table, page } = sources[name]
    for (let pass = 0, missed = 1; missed > 0 && pass < PASSES_MAX; pass++) {
      missed = 0
      for await (const row of rowsOf(page)) {
        const next = rewrapOrNull(keyRing, row)
        if (!next) {
          if (!unopenable.some(({ id }) => id === row.id))
            unopenable.push({ table: name, id: row.id, ringKeyId: row.ringKeyId })
        } else if (await rewrapRow(db, table, row, next)) {
          rewrapped[name]++
          const total = rewrapped.team_secrets + rewrapped.webhooks
          if (total % BATCH === 0) progress(total)
        } else missed++
      }
    }
  }

  const inUse = await ringKeysInUse(db)
  const removable = keyRing.keyIds.filter((keyId) => keyId !== currentKeyId && !inUse[keyId])
  return { rewrapped, unopenable, inUse, removable }
}

const FIRST = '00000000-0000-0000-0000-000000000000'

async function* rowsOf(page: (after: string) => Promise<Row[]>): AsyncGenerator<Row> {
  for (let after = FIRST; ; ) {
    const rows = await page(after)
    yield* rows
    if (rows.length < BATCH) return
    after = rows.at(-1)!.id
  }
}

function rewrapOrNull(keyRing: KeyRing, row: Row): WrappedKey | null {
  try {
    return keyRing.rewrap(row, row.context)
  } catch (error) {
    if (error instanceof UnopenableError) return null
    throw error
  }
}
