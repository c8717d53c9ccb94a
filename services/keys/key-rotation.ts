// Changes the ring's first key: the key of every sealed value is wrapped with the new one. Safe while apis and workers with
// the same ring run: each row changes in one conditional write, and can be opened before and after. An interrupted rotation
// continues where it stopped, since each row names the key that wraps it.
import type { Db } from '../../db/client.js'
import {
  type BoundTo,
  rewrapRow,
  ringKeysInUse,
  rowsNotUnder,
  type SealedTable,
  sealedTables,
  type WrappedRow
} from '../../db/service/sealed-values.js'
import {
  type KeyRing,
  mailContext,
  type SealContext,
  secretContext,
  UnopenableError,
  type WrappedKey,
  webhookContext
} from './key-ring.js'
import { signingKeyContext } from './signer.js'

const BATCH = 200
/** Rows that were replaced during a pass need another one; further passes only happen while a process has an older ring. */
const PASSES_MAX = 5

const contexts: { [Name in SealedTable]: (bound: BoundTo[Name]) => SealContext } = {
  team_secrets: secretContext,
  webhooks: webhookContext,
  signing_keys: signingKeyContext,
  sealed_mails: mailContext
}

export interface Rotation {
  /** Values whose key was wrapped with the ring's first key, by table. */
  rewrapped: Record<SealedTable, number>
  /** Rows that no key of the ring opens; they stay unchanged. */
  unopenable: UnopenableRow[]
  /** How many sealed values each key wraps now. */
  inUse: Record<string, number>
  /** Keys of the ring that the database no longer needs. */
  removable: string[]
}

export interface UnopenableRow {
  table: SealedTable
  id: string
  ringKeyId: string
}

/** @param progress is called after each batch with the number of values re-wrapped so far. */
export async function rotateKeys(db: Db, keyRing: KeyRing, progress: (rewrapped: number) => void): Promise<Rotation> {
  const { currentKeyId } = keyRing
  const rotation: Rotation = {
    rewrapped: { team_secrets: 0, webhooks: 0, signing_keys: 0, sealed_mails: 0 },
    unopenable: [],
    inUse: {},
    removable: []
  }
  for (const table of sealedTables) {
    let pass = await rewrapAll(table)
    for (let passes = 1; pass.missed > 0 && passes < PASSES_MAX; passes++) pass = await rewrapAll(table)
    rotation.unopenable.push(...pass.unopenable)
  }
  rotation.inUse = await ringKeysInUse(db)
  rotation.removable = keyRing.keyIds.filter((keyId) => keyId !== currentKeyId && !rotation.inUse[keyId])
  return rotation

  async function rewrapAll<Name extends SealedTable>(
    table: Name
  ): Promise<{ missed: number; unopenable: UnopenableRow[] }> {
    const unopenable: UnopenableRow[] = []
    let missed = 0
    for (let after: string | null = null; ; ) {
      const rows: WrappedRow<Name>[] = await rowsNotUnder(db, table, currentKeyId, { after, limit: BATCH })
      if (rows.length === 0) return { missed, unopenable }
      for (const row of rows) {
        const next = rewrapped(keyRing, row, contexts[table](row.bound))
        if (!next) unopenable.push({ table, id: row.id, ringKeyId: row.ringKeyId })
        else if (await rewrapRow(db, table, row, next)) rotation.rewrapped[table]++
        else missed++
        after = row.id
      }
      progress(Object.values(rotation.rewrapped).reduce((sum, count) => sum + count, 0))
    }
  }
}

/** `null` when no key of the ring opens it. */
function rewrapped(keyRing: KeyRing, row: WrappedKey, context: SealContext): WrappedKey | null {
  try {
    return keyRing.rewrap(row, context)
  } catch (error) {
    if (error instanceof UnopenableError) return null
    throw error
  }
}
