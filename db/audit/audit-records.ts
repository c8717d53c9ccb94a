// Digests of rows that audit entries contain: the outcome of a run, a publication, the first evidence of a capsule.
// Columns are listed explicitly, so that columns of later versions do not change existing digests.
import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'

import type { capsulePublications, capsuleRuns } from '../tables/capsules.js'

type CapsuleRunRow = Omit<typeof capsuleRuns.$inferSelect, 'definition'>

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const digestOf = (record: object): string => sha256(canonicalize(record)!)
const time = (at: Date | null): string | null => at?.toISOString() ?? null

/** Hex SHA-256 of a finished run, whose columns no longer change. */
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

/** Hex SHA-256 of the public part of a capsule, including whether it is still published. */
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

/** Hex SHA-256 over the digests of files, independent of their order. */
export const filesSha256 = (files: readonly { name: string; sha256: string }[]): string =>
  sha256(
    files
      .map((file) => `${file.sha256}  ${file.name}\n`)
      .sort()
      .join('')
  )
