// Whether a dispatch target accepts deliveries, for the readiness of the api. Its own dispatcher knows the last refusals of
// its own deliveries; the workers store theirs as findings of the sweep `outbox`.
import pTimeout from 'p-timeout'
import type { Db } from '../../db/client.js'
import { findingsOf } from '../../db/service/sweeps.js'
import type { Dispatcher } from './dispatcher.js'
import type { DispatchTarget } from './target-faults.js'

/** The target responds, and refuses deliveries. The message is for operators, and names no address. */
export class TargetRefusal extends Error {
  override name = 'TargetRefusal'
}

const DATABASE_MS = 500

/** @throws TargetRefusal with the target's own words. */
export async function assertAccepts(db: Db, dispatcher: Dispatcher, target: DispatchTarget): Promise<void> {
  const own = dispatcher.refusals(target)
  const [refusal] = own.length > 0 ? own : (await storedFindings(db)).filter((text) => text.startsWith(target))
  if (refusal !== undefined) throw new TargetRefusal(refusal)
}

/** The database is a part of its own: while it is away, nothing is known about refusals. */
const storedFindings = (db: Db): Promise<string[]> =>
  pTimeout(
    findingsOf(db, 'outbox').catch(() => []),
    { milliseconds: DATABASE_MS, fallback: () => [] }
  )
