// Digests that entries of the audit trail state of rows: what a run came to, a publication, the evidence that a capsule
// began with. Columns are named one by one: others that come with a later version change no digest that was written before.
import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'

import type { capsulePublications, capsuleRuns } from '../tables/capsules.js'

type CapsuleRunRow = Omit<typeof capsuleRuns.$inferSelect, 'definition'>

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const digestOf = (record: object): string => sha256(canonicalize(record)!)
const time = (at: Date | null): string | null => at?.toISOString() ?? null

/** Of a run that is over: none of this changes any more. Hex SHA-256. */
export const runSha256 = (run: CapsuleRunRow): string =>
  digestOf({
    run_id: run.id,
    capsule_id: run.capsuleId,
    team_id: run.teamId,
    mode: run.mode,
    trigger: run.trigger,
    status: run.status,
    reason: run.reason,
    definition_sha256: run.definitionSha256,
    scheduled_at: time(run.scheduledAt),
    confirms: run.confirms,
    verdict: run.verdict,
    verification: run.verification,
    created_at: time(run.createdAt),
    completed_at: time(run.completedAt)
  })

/** Of what everybody is shown, and of whether they still are. Hex SHA-256. */
export const publicationSha256 = (publication: typeof capsulePublications.$inferSelect): string =>
  digestOf({
    capsule_id: publication.capsuleId,
    slug: publication.slug,
    title: publication.title,
    description: publication.description,
    readme: publication.readme,
    license: publication.license,
    category: publication.category,
    tags: publication.tags,
    published_at: time(publication.publishedAt),
    taken_down_at: time(publication.takenDownAt),
    takedown_reason: publication.takedownReason
  })

/** Of files by their digests, whatever their order. Hex SHA-256. */
export const filesSha256 = (files: readonly { name: string; sha256: string }[]): string =>
  sha256(
    files
      .map((file) => `${file.sha256}  ${file.name}\n`)
      .sort()
      .join('')
  )
