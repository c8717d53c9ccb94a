// What the caller can do with a job now. Each action asks the functions that refuse it, and repeats their words.
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { findBackend } from '../../../db/backends/backends.js'
import type { DbOrTx } from '../../../db/client.js'
import { type JobRow, loadSource } from '../../../db/jobs/jobs.js'
import { estimateOf } from '../../../db/submissions/create-job.js'
import { assertUsable } from '../../../domain/backends/backend.js'
import { tasksNeededBy } from '../../../domain/capsules/capsule-suite.js'
import { ServiceError } from '../../../domain/errors.js'
import { widthOfSource } from '../../../domain/jobs/declared-width.js'
import {
  assertCancellable,
  assertCompleted,
  assertInlineCode,
  assertSubmitter
} from '../../../domain/jobs/job-actions.js'
import type { ParsedParams } from '../../../domain/jobs/params/params.js'
import { programKindOf } from '../../../domain/jobs/source.js'
import { submissionAgain } from '../../../domain/jobs/submission.js'
import { assertKept, evidenceKinds, type RemovedAt } from '../../../domain/teams/content-retention.js'
import { assertMayCall, readTeam, userOf } from '../http/access.js'
import { accessTable, type RouteLine } from '../http/access-table.js'
import { assertActive } from '../http/team-access.js'
import { Verdict, verdict } from '../http/verdict.js'
import { refusalsOf, type SubmittingTeam, standingAt } from './destinations/refusals.js'

export const JobActions = Type.Object(
  { cancel: Verdict, rerun: Verdict, make_capsule: Verdict, save_script: Verdict },
  {
    $id: 'JobActions',
    description:
      '`true`, or the words with which a request would be refused now. Sizes and limits of requests are checked later'
  }
)

/** Larger sources are not loaded: what their text alone shows is left to the request. */
const SOURCE_BYTES_MAX = 64 * 1024

export async function actionsOf(
  db: DbOrTx,
  request: FastifyRequest,
  { job, removed }: { job: JobRow; removed: RemovedAt },
  at: Date
): Promise<Static<typeof JobActions>> {
  const team = await readTeam(request, db, job.teamId)
  const may = (line: RouteLine, ...asserts: (() => void)[]) =>
    verdict(() => {
      assertMayCall(request, accessTable[line]!)
      for (const assert of asserts) assert()
    })
  const active = () => assertActive(team)
  const completed = () => assertCompleted(job.status)
  return {
    cancel: may('POST /api/jobs/:id/cancel', active, () => assertCancellable(job.status)),
    rerun: await rerunVerdict(db, request, job, team, at),
    make_capsule: may('POST /api/capsules/from-job', active, completed, () => assertKept(removed, evidenceKinds)),
    save_script: may(
      'POST /api/scripts',
      () => assertSubmitter(job, userOf(request).id),
      active,
      () => assertInlineCode(job.sourceKind),
      completed
    )
  }
}

async function rerunVerdict(
  db: DbOrTx,
  request: FastifyRequest,
  job: JobRow,
  team: SubmittingTeam,
  at: Date
): Promise<true | string> {
  const [source, backend] = await Promise.all([loadSource(db, job.id, SOURCE_BYTES_MAX), findBackend(db, job.backend)])
  const submission = submissionAgain(job, source)
  const own = verdict(() => {
    assertMayCall(request, accessTable['POST /api/jobs/:id/rerun']!)
    assertHasItsResults(job, submission.params)
  })
  if (own !== true) return own
  const { params, maxCost } = submission
  const run = { program: programKindOf(submission.source), shots: params.value.shots }
  if (!backend) return verdict(() => assertUsable(null, job.backend, run))
  const qubits = source.text === '' ? null : widthOfSource(submission.source)
  const standing = await standingAt(db, request, team, { backend, qubits, at })
  const [first] = refusalsOf(standing, backend, {
    ...run,
    qubits,
    params: params.value,
    cost: estimateOf(submission, backend),
    maxCost
  })
  return first?.message ?? true
}

/** @throws ServiceError `conflict` for a capsule's task whose parameters still refer to results of other tasks. */
export function assertHasItsResults({ capsuleRunId, startedAt }: JobRow, params: ParsedParams): void {
  if (capsuleRunId === null || startedAt !== null) return
  const needed = tasksNeededBy(params.value)
  if (needed.size > 0)
    throw new ServiceError(
      'conflict',
      `The parameters of this job name results of ${[...needed].join(', ')}, which it has never got; run its capsule again`
    )
}
