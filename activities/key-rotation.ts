// A change of the ring's first key: everything sealed gets its own key wrapped by that one. Safe beside running apis and
// workers that hold the same ring: each row changes in one conditional write, and whoever reads it before or after can
// open it. Stopped half-way it goes on where it was, since each row says which key wraps it.
import type { Db } from '../db/client.js'
import { rewrapRow, ringKeysInUse, secretsNotUnder, webhooksNotUnder } from '../db/secrets.js'
import { rewrapSigningKey, signingKeysNotUnder } from '../db/signing-keys.js'
import { teamSecrets, webhooks } from '../db/tables/teams.js'
import {
  type KeyRing,
  type SealContext,
  secretContext,
  UnopenableError,
  type WrappedKey,
  webhookContext
} from './key-ring.js'
import { signingKeyContext } from './signer.js'

const BATCH = 200
/** Rows that were replaced while they were looked at are looked at again; more often only if somebody has an older ring. */
const PASSES_MAX = 5
/** Below every id. */
const NO_ID = '00000000-0000-0000-0000-000000000000'
const NO_KEY_ID = ''

export interface Rotation {
  /** Sealed values that came under the ring's first key, by table. */
  rewrapped: Record<SealedTable, number>
  /** Rows that no key of the ring opens; they stay as they are. */
  unopenable: UnopenableRow[]
  /** How many sealed values each key wraps now. */
  inUse: Record<string, number>
  /** Keys of the ring that nothing in the database needs any more. */
  removable: string[]
}

export type SealedTable = 'team_secrets' | 'webhooks' | 'signing_keys'

export interface UnopenableRow {
  table: SealedTable
  id: string
  ringKeyId: string
}

interface Row extends WrappedKey {
  id: string
  context: SealContext
}

interface Source {
  name: SealedTable
  /** Below every id. */
  first: string
  /** The next rows that another key wraps, in the order of their ids. */
  page(after: string): Promise<Row[]>
  /** `false` when the row has changed since it was read, or is gone. */
  rewrap(row: Row, next: WrappedKey): Promise<boolean>
}

/** @param progress hears after each batch how many values have been re-wrapped so far. */
export async function rotateKeys(db: Db, keyRing: KeyRing, progress: (rewrapped: number) => void): Promise<Rotation> {
  const { currentKeyId } = keyRing
  const sources: Source[] = [
    {
      name: 'team_secrets',
      first: NO_ID,
      rewrap: (row, next) => rewrapRow(db, teamSecrets, row, next),
      page: async (after) =>
        (await secretsNotUnder(db, currentKeyId, { after, limit: BATCH })).map((row) => ({
          ...row,
          context: secretContext(row)
        }))
    },
    {
      name: 'webhooks',
      first: NO_ID,
      rewrap: (row, next) => rewrapRow(db, webhooks, row, next),
      page: async (after) =>
        (await webhooksNotUnder(db, currentKeyId, { after, limit: BATCH })).map((row) => ({
          ...row,
          context: webhookContext(row)
        }))
    },
    {
      name: 'signing_keys',
      first: NO_KEY_ID,
      rewrap: (row, next) => rewrapSigningKey(db, { ...row, keyId: row.id }, next),
      page: async (after) =>
        (await signingKeysNotUnder(db, currentKeyId, { after, limit: BATCH })).map((row) => ({
          ...row,
          id: row.keyId,
          context: signingKeyContext(row)
        }))
    }
  ]
  const rotation: Rotation = {
    rewrapped: { team_secrets: 0, webhooks: 0, signing_keys: 0 },
    unopenable: [],
    inUse: {},
    removable: []
  }
  for (const source of sources) {
    let pass = await rewrapAll(source)
    for (let passes = 1; pass.missed > 0 && passes < PASSES_MAX; passes++) pass = await rewrapAll(source)
    rotation.unopenable.push(...pass.unopenable)
  }
  rotation.inUse = await ringKeysInUse(db)
  rotation.removable = keyRing.keyIds.filter((keyId) => keyId !== currentKeyId && !rotation.inUse[keyId])
  return rotation

  async function rewrapAll(source: Source): Promise<{ missed: number; unopenable: UnopenableRow[] }> {
    const unopenable: UnopenableRow[] = []
    let missed = 0
    for (let after = source.first, rows = await source.page(after); rows.length > 0; rows = await source.page(after)) {
      for (const row of rows) {
        const next = rewrapped(keyRing, row)
        if (!next) unopenable.push({ table: source.name, id: row.id, ringKeyId: row.ringKeyId })
        else if (await source.rewrap(row, next)) rotation.rewrapped[source.name]++
        else missed++
        after = row.id
      }
      progress(Object.values(rotation.rewrapped).reduce((sum, count) => sum + count, 0))
    }
    return { missed, unopenable }
  }
}

/** `null` when no key of the ring opens it. */
function rewrapped(keyRing: KeyRing, row: Row): WrappedKey | null {
  try {
    return keyRing.rewrap(row, row.context)
  } catch (error) {
    if (error instanceof UnopenableError) return null
    throw error
  }
}
