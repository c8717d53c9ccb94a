// The states of a capsule after its draft: sealed, published, archived, taken down.
import { and, desc, eq, isNull, sql } from 'drizzle-orm'
import { ServiceError } from '../../domain/errors.js'
import type { Page } from '../../domain/json/page.js'
import { slugOf } from '../../domain/scripts/script.js'
import { type AdminActor, recordAdminAction } from '../audit/admin-audit.js'
import { actorText, appendAudit } from '../audit/audit.js'
import { publicationSha256 } from '../audit/audit-records.js'
import { cappedCount, ONE } from '../capped-count.js'
import type { DbOrTx, Tx } from '../client.js'
import { capsulePublications, capsuleSeals, capsules } from '../tables/capsules.js'
import { assertStorageLeft } from '../teams/team-storage.js'
import { type EvidenceFile, recordCapsuleChange, sizeOf, storeFiles } from './capsule-changes.js'
import { deleteSchedule } from './capsule-schedules.js'
import { type CapsulePublication, type CapsuleRow, type CapsuleSeal, lockCapsule } from './capsules.js'

/**
 * Records the seal of a locked capsule. Its files must be stored first; none can be added after the seal.
 * @throws ServiceError `storage_limit_exceeded`.
 */
export async function recordSeal(
  tx: Tx,
  { id: capsuleId, teamId }: Pick<CapsuleRow, 'id' | 'teamId'>,
  { files, ...seal }: Omit<CapsuleSeal, 'capsuleId'> & { files: readonly EvidenceFile[] }
): Promise<CapsuleRow> {
  const texts = [seal.manifest, seal.checksums, seal.envelope]
  await assertStorageLeft(tx, teamId, sizeOf(files) + texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0))
  await storeFiles(tx, capsuleId, files)
  await tx.insert(capsuleSeals).values({ capsuleId, ...seal })
  return moveState(tx, capsuleId, 'sealed')
}

async function moveState(tx: Tx, capsuleId: string, state: CapsuleRow['state']): Promise<CapsuleRow> {
  const [row] = await tx
    .update(capsules)
    .set({ state, updatedAt: sql`clock_timestamp()` })
    .where(eq(capsules.id, capsuleId))
    .returning()
  return row!
}

export interface NewPublication {
  title: string
  description: string
  readme: string | null
  license: string | null
  category: string | null
  tags: string[]
}

/** Publishes a locked, sealed capsule under a slug made from its title. */
export async function publishCapsule(
  tx: Tx,
  capsule: CapsuleRow,
  publication: NewPublication,
  actor: string
): Promise<CapsuleRow> {
  const shown = await withFreeSlug(tx, capsule.id, publication)
  const published = await moveState(tx, capsule.id, 'published')
  await recordCapsuleChange(tx, capsule, 'capsule.published', actor, 'published', {
    slug: shown.slug,
    title: publication.title,
    publication_sha256: publicationSha256(shown),
    ...(publication.license !== null && { license: publication.license })
  })
  return published
}

/** Uses the plain slug, or when that is taken, the slug with the end of the capsule's id, which is unique. */
async function withFreeSlug(tx: Tx, capsuleId: string, publication: NewPublication): Promise<CapsulePublication> {
  const plain = slugOf(publication.title)
  for (const slug of [plain, `${plain.slice(0, SLUG_STEM)}-${capsuleId.replaceAll('-', '')}`]) {
    const [row] = await tx
      .insert(capsulePublications)
      .values({ capsuleId, slug, ...publication, publishedAt: sql`clock_timestamp()` })
      .onConflictDoNothing({ target: capsulePublications.slug })
      .returning()
    if (row) return row
  }
  throw new ServiceError(
    'slug_conflict',
    'title: too many capsules with this title are being published; choose another title'
  )
}

/** A slug has at most 200 characters, of which 33 are for the id. */
const SLUG_STEM = 160

/** Archives a locked, sealed capsule: it stays readable, and no schedule verifies it any more. */
export async function archiveCapsule(tx: Tx, capsule: CapsuleRow, actor: string): Promise<CapsuleRow> {
  const scheduleEnded = await deleteSchedule(tx, capsule.id)
  const archived = await moveState(tx, capsule.id, 'archived')
  await recordCapsuleChange(tx, capsule, 'capsule.archived', actor, 'archived', { schedule_ended: scheduleEnded })
  return archived
}

/**
 * Removes a published capsule from the public catalogue. It stays with its team. Taking it down again changes the
 * reason.
 * @throws ServiceError `not_found`, `conflict` for a capsule that is not published.
 */
export async function takeDownCapsule(
  tx: Tx,
  admin: AdminActor,
  capsuleId: string,
  reason: string
): Promise<{ capsule: CapsuleRow; publication: CapsulePublication }> {
  const capsule = await lockCapsule(tx, capsuleId)
  if (!capsule) throw new ServiceError('not_found', 'no such capsule')
  const [publication] = await tx
    .update(capsulePublications)
    .set({
      takenDownAt: sql`coalesce(${capsulePublications.takenDownAt}, clock_timestamp())`,
      takedownReason: reason
    })
    .where(eq(capsulePublications.capsuleId, capsuleId))
    .returning()
  if (!publication)
    throw new ServiceError('conflict', `This capsule is ${capsule.state}; only a published capsule can be taken down`)
  await recordAdminAction(tx, admin, 'capsule.takedown', capsuleId, { reason, team_id: capsule.teamId })
  await appendAudit(tx, {
    teamId: capsule.teamId,
    capsuleId,
    action: 'capsule.takedown',
    actor: actorText({ adminId: admin.id }),
    previousState: capsule.state,
    newState: capsule.state,
    metadata: { reason, publication_sha256: publicationSha256(publication) }
  })
  return { capsule, publication }
}

/** What the public catalogue shows of a capsule. */
const catalogueQuery = (db: DbOrTx) =>
  db
    .select({ capsule: capsules, publication: capsulePublications, seal: capsuleSeals })
    .from(capsulePublications)
    .innerJoin(capsules, eq(capsules.id, capsulePublications.capsuleId))
    .innerJoin(capsuleSeals, eq(capsuleSeals.capsuleId, capsules.id))

export type PublicCapsule = Awaited<ReturnType<typeof catalogueQuery>>[number]

const isShown = and(eq(capsules.state, 'published'), isNull(capsulePublications.takenDownAt))

export interface CatalogueFilter extends Page {
  /** Text that occurs in the title or the description. */
  text?: string
  tag?: string
  category?: string
}

/** Published capsules, the newest publication first. @returns `total` is counted no further than `TOTAL_MAX + 1`. */
export async function listPublished(
  db: DbOrTx,
  { limit, offset, text, tag, category }: CatalogueFilter
): Promise<{ rows: PublicCapsule[]; total: number }> {
  const { title, description, tags } = capsulePublications
  const where = and(
    isShown,
    tag === undefined ? undefined : sql`${tags} ? ${tag}`,
    category === undefined ? undefined : eq(capsulePublications.category, category),
    text === undefined
      ? undefined
      : sql`(strpos(lower(${title}), lower(${text})) > 0 or strpos(lower(${description}), lower(${text})) > 0)`
  )
  const [rows, total] = await Promise.all([
    catalogueQuery(db)
      .where(where)
      .orderBy(desc(capsulePublications.publishedAt), desc(capsulePublications.capsuleId))
      .limit(limit)
      .offset(offset),
    cappedCount(
      db,
      db
        .select(ONE)
        .from(capsulePublications)
        .innerJoin(capsules, eq(capsules.id, capsulePublications.capsuleId))
        .where(where)
        .$dynamic()
    )
  ])
  return { rows, total }
}

export async function findPublished(db: DbOrTx, slug: string): Promise<PublicCapsule | null> {
  const [row] = await catalogueQuery(db).where(and(isShown, eq(capsulePublications.slug, slug)))
  return row ?? null
}
