// Mails whose links hold a live token. The transaction that makes the token writes the mail; a worker takes one that is due,
// sends it outside of any transaction, and removes the row. A try counts when it is taken, and the count is the fence, as
// for mails about jobs (db/jobs/job-mails.ts).
import { and, desc, eq, sql } from 'drizzle-orm'
import type { Db, DbOrTx } from '../client.js'
import { sealedMails } from '../tables/operations.js'

/** How long a taken mail is left to its sender, which needs at most the time limit of one try. */
const TAKEN_SECONDS = 120

export interface SealedMail {
  id: string
  ringKeyId: string
  wrappedKey: Buffer
  sealedMail: Buffer
}

export interface TakenMail extends SealedMail {
  /** Counts this one already. */
  tries: number
  expired: boolean
}

export async function addSealedMail(
  tx: DbOrTx,
  { first, ...mail }: SealedMail & { expiresAt: Date; first: boolean }
): Promise<void> {
  await tx.insert(sealedMails).values({ ...mail, priority: first ? 1 : 0 })
}

/**
 * Takes the mail of the highest priority that has been due for the longest time, or `null` when none is due. Skips those
 * that others are taking.
 */
export async function takeSealedMail(db: Db): Promise<TakenMail | null> {
  const due = db
    .$with('due')
    .as(
      db
        .select({ dueId: sealedMails.id })
        .from(sealedMails)
        .where(sql`${sealedMails.nextAt} <= now()`)
        .orderBy(desc(sealedMails.priority), sealedMails.nextAt)
        .limit(1)
        .for('update', { skipLocked: true })
    )
  const [taken] = await db
    .with(due)
    .update(sealedMails)
    .set({
      tries: sql`${sealedMails.tries} + 1`,
      nextAt: sql`now() + make_interval(secs => ${TAKEN_SECONDS})`
    })
    .from(due)
    .where(eq(sealedMails.id, due.dueId))
    .returning({
      id: sealedMails.id,
      ringKeyId: sealedMails.ringKeyId,
      wrappedKey: sealedMails.wrappedKey,
      sealedMail: sealedMails.sealedMail,
      tries: sealedMails.tries,
      expired: sql<boolean>`${sealedMails.expiresAt} <= now()`
    })
  return taken ?? null
}

type Taken = Pick<TakenMail, 'id' | 'tries'>

/** The mail is sent, given up or expired. */
export async function removeSealedMail(db: Db, taken: Taken): Promise<void> {
  await db.delete(sealedMails).where(isTaken(taken))
}

/** The try failed for a reason that may pass; the next one is due after `seconds`. */
export async function postponeSealedMail(db: Db, taken: Taken, error: string, seconds: number): Promise<void> {
  await db
    .update(sealedMails)
    .set({ lastError: error, nextAt: sql`now() + make_interval(secs => ${seconds})` })
    .where(isTaken(taken))
}

const isTaken = ({ id, tries }: Taken) => and(eq(sealedMails.id, id), eq(sealedMails.tries, tries))
