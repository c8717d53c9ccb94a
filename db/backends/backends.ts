// Reads and changes the catalogue of backends.
import { and, asc, eq, getTableColumns, inArray, like, or, sql } from 'drizzle-orm'
import type { Backend, BackendStatus } from '../../domain/backends/backend.js'
import { assertNotTooWide, assertStateVectorFits, isTooWide } from '../../domain/jobs/declared-width.js'
import type { JobParams } from '../../domain/jobs/params/params.js'
import { programKindOf } from '../../domain/jobs/source.js'
import type { Pricing } from '../../domain/money/cost.js'
import { type MicroUsd, microFromUsd } from '../../domain/money/money.js'
import type { Db, DbOrTx } from '../client.js'
import { newId } from '../ids.js'
import { type Places, query } from '../statement.js'
import { backends } from '../tables/backends.js'
import { pricingOf, pricingValues } from './pricing.js'
import { emulatedByWorker, servedByWorker } from './provider-workers.js'

const columns = { ...getTableColumns(backends), served: servedByWorker, emulated: emulatedByWorker }

export async function listBackends(db: DbOrTx): Promise<Backend[]> {
  const rows = await db.select(columns).from(backends).orderBy(asc(backends.displayOrder), asc(backends.slug))
  return rows.map(fromRow)
}

export async function findBackend(db: DbOrTx, slug: string): Promise<Backend | null> {
  const [row] = await backendOf(db, { slug })
  return row ? fromRow(row) : null
}

const backendOf = query(({ slug }: Places<{ slug: string }>, on) =>
  on.select(columns).from(backends).where(eq(backends.slug, slug))
)

/**
 * Refuses a program that is wider than the backend, naming one that fits, and a state vector that no backend returns.
 * @param qubits the width of the program; `null` when its text does not show it.
 * @throws ServiceError `validation_error`.
 */
export async function assertFits(
  db: DbOrTx,
  backend: Backend,
  qubits: number | null,
  { source, params }: { source: { kind: string; format?: string | null }; params: Partial<JobParams> }
): Promise<void> {
  if (qubits === null) return
  if (isTooWide(qubits, backend)) assertNotTooWide(qubits, backend, await listBackends(db), programKindOf(source))
  // Of many circuits, only the executor knows the width of each.
  if (source.kind !== 'circuits') assertStateVectorFits(qubits, params)
}

/** What an administrator can change. Absent keys stay unchanged. */
export interface BackendChange {
  status?: BackendStatus
  isAvailable?: boolean
  pricing?: Partial<Pricing>
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
      ...(pricing && pricingValues(pricing)),
      ...(status ? { status, statusUpdatedAt: sql`clock_timestamp()` } : {}),
      updatedAt: sql`clock_timestamp()`
    })
    .where(eq(backends.slug, slug))
    .returning({ id: backends.id })
  return row ? findBackend(db, slug) : null
}

/** How long a GPU counts as present after an executor last reported it. Long, since other executors may report none. */
const GPU_REPORT_SECONDS = 120

/**
 * Takes GPU backends online while an executor reports their engine, and offline when none has for a while. A backend in
 * maintenance stays there.
 */
export async function reportEngines(db: Db, engines: string[]): Promise<void> {
  const onGpu = like(backends.engine, 'gpu\\_%')
  const set = (status: BackendStatus) => ({
    status,
    statusUpdatedAt: sql`clock_timestamp()`,
    updatedAt: sql`clock_timestamp()`
  })
  const due = sql`${backends.statusUpdatedAt} < clock_timestamp() - make_interval(secs => ${GPU_REPORT_SECONDS / 2})`
  const late = sql`${backends.statusUpdatedAt} < clock_timestamp() - make_interval(secs => ${GPU_REPORT_SECONDS})`
  const reported = engines.filter((engine) => engine.startsWith('gpu_'))
  if (reported.length > 0)
    await db
      .update(backends)
      .set(set('online'))
      .where(
        and(
          onGpu,
          inArray(backends.engine, reported),
          or(eq(backends.status, 'offline'), and(eq(backends.status, 'online'), due))
        )
      )
  await db
    .update(backends)
    .set(set('offline'))
    .where(and(onGpu, eq(backends.status, 'online'), late))
}

/** An entry of db/seed/backends.json. */
export type SeedEntry = Omit<
  Backend,
  | 'id'
  | 'pricing'
  | 'statusUpdatedAt'
  | 'updatedAt'
  | 'displayOrder'
  | 'served'
  | 'queueLength'
  | 'queueTimeSeconds'
  | 'emulated'
> & {
  pricing: { taskFee: number; perShot: number; minimumCost: number }
}

/**
 * Inserts entries that are missing in the catalogue. Existing rows are never touched, since they may have an operator's
 * prices.
 */
export async function seedBackends(db: DbOrTx, entries: SeedEntry[]): Promise<void> {
  const rows = entries.map((entry, index) => {
    const { pricing, ...rest } = entry
    const price = (name: keyof typeof pricing): MicroUsd => {
      const micro = microFromUsd(pricing[name])
      if (micro === null) throw new Error(`seed: ${entry.slug} has a ${name} that is not a price`)
      return micro
    }
    const prices = { taskFee: price('taskFee'), perShot: price('perShot'), minimumCost: price('minimumCost') }
    return { ...rest, ...prices, id: newId(), displayOrder: (index + 1) * 10 }
  })
  await db.insert(backends).values(rows).onConflictDoNothing({ target: backends.slug })
}

function fromRow(row: typeof backends.$inferSelect & { served: boolean; emulated: boolean }): Backend {
  const { taskFee, perShot, minimumCost, perSecond, secondsMax, nativeGates, queueUpdatedAt: _, ...rest } = row
  const pricing = pricingOf({ taskFee, perShot, minimumCost, perSecond, secondsMax })
  return { ...rest, nativeGates: nativeGates ?? null, pricing }
}
