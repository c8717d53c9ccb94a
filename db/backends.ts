// Reads and changes of the backend catalogue.
import { asc, eq, sql } from 'drizzle-orm'
import type { Backend, BackendStatus } from '../domain/backend.js'
import { type MicroUsd, microFromUsd } from '../domain/money.js'
import type { Db, DbOrTx } from './client.js'
import { newId } from './ids.js'
import { backends } from './tables/backends.js'

export async function listBackends(db: DbOrTx): Promise<Backend[]> {
  const rows = await db.select().from(backends).orderBy(asc(backends.displayOrder), asc(backends.slug))
  return rows.map(fromRow)
}

export async function findBackend(db: DbOrTx, slug: string): Promise<Backend | null> {
  const [row] = await db.select().from(backends).where(eq(backends.slug, slug))
  return row ? fromRow(row) : null
}

/** What an administrator may change; absent keys stay. */
export interface BackendChange {
  status?: BackendStatus
  isAvailable?: boolean
  pricing?: { taskFee: MicroUsd; perShot: MicroUsd; minimumCost: MicroUsd }
  description?: string | null
  isRecommended?: boolean
  displayOrder?: number
}

/** `null` when no backend has that slug. */
export async function changeBackend(db: DbOrTx, slug: string, change: BackendChange): Promise<Backend | null> {
  const { pricing, status, ...rest } = change
  const [row] = await db
    .update(backends)
    .set({
      ...rest,
      ...pricing,
      ...(status ? { status, statusUpdatedAt: sql`clock_timestamp()` } : {}),
      updatedAt: sql`clock_timestamp()`
    })
    .where(eq(backends.slug, slug))
    .returning()
  return row ? fromRow(row) : null
}

type SeedEntry = Omit<Backend, 'id' | 'pricing' | 'statusUpdatedAt' | 'updatedAt' | 'displayOrder'> & {
  pricing: { taskFee: number; perShot: number; minimumCost: number }
}

/** Adds the catalogue's entries that are not there yet. An existing row is never touched: it may carry an operator's prices. */
export async function seedBackends(db: Db, entries: SeedEntry[]): Promise<void> {
  const rows = entries.map((entry, index) => {
    const { pricing, ...rest } = entry
    const price = (name: keyof typeof pricing): MicroUsd => {
      const micro = microFromUsd(pricing[name])
      if (micro === null) throw new Error(`seed: ${entry.slug} has a ${name} that is no price`)
      return micro
    }
    const prices = { taskFee: price('taskFee'), perShot: price('perShot'), minimumCost: price('minimumCost') }
    return { ...rest, ...prices, id: newId(), displayOrder: (index + 1) * 10 }
  })
  await db.insert(backends).values(rows).onConflictDoNothing({ target: backends.slug })
}

function fromRow(row: typeof backends.$inferSelect): Backend {
  const { taskFee, perShot, minimumCost, nativeGates, ...rest } = row
  return { ...rest, nativeGates: nativeGates ?? null, pricing: { taskFee, perShot, minimumCost } }
}
