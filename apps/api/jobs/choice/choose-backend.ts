// Chooses the backend of a submission that leaves it open.
import type { FastifyRequest } from 'fastify'
import { listBackends } from '../../../../db/backends/backends.js'
import { credentialNames } from '../../../../db/backends/provider-workers.js'
import type { DbOrTx } from '../../../../db/client.js'
import type { Backend } from '../../../../domain/backends/backend.js'
import { type ChoiceJob, chooseBackend, type Means } from '../../../../domain/backends/choice.js'
import { widthOfSource } from '../../../../domain/jobs/declared-width.js'
import { shotsOfRuns } from '../../../../domain/jobs/params/params.js'
import { programKindOf } from '../../../../domain/jobs/source.js'
import type { BackendChoice, JobSource, SavedScript, Submission, Wishes } from '../../../../domain/jobs/submission.js'
import type { ApiDeps } from '../../deps.js'
import { actorOf, callerOf, teamForWrite } from '../../http/access.js'
import { payRefusal } from '../../http/limits/key-limits.js'
import { widthOfScript } from '../../scripts/saved-script.js'

interface Chosen {
  backend: Backend
  choice: BackendChoice
}

/**
 * The backend for a submission, in the transaction that records it.
 * @throws ServiceError `backend_unavailable` when none can take it; `not_found` (team, script), `permission_denied`,
 * `team_suspended`.
 */
export async function chosenBackend(
  { now }: Pick<ApiDeps, 'now'>,
  request: FastifyRequest,
  tx: DbOrTx,
  { source, params, circuitCount, maxCost, teamId }: Submission<JobSource | SavedScript>,
  wishes: Wishes
): Promise<Chosen> {
  const team = await teamForWrite(request, tx, teamId)
  const qubits =
    source.kind === 'saved' ? await widthOfScript(tx, callerOf(request), source, team) : widthOfSource(source)
  const shots = shotsOfRuns(params.value)
  const job = { shots, program: programKindOf(source), circuitCount, qubits, params: params.value, maxCost }
  return chosenFor(tx, request, team, job, wishes, now())
}

/** @param teamId `null` for a caller who has no team yet. @throws ServiceError `backend_unavailable`. */
export async function chosenFor(
  db: DbOrTx,
  request: FastifyRequest,
  teamId: string | null,
  job: ChoiceJob,
  wishes: Wishes,
  at: Date
): Promise<Chosen> {
  const { key } = actorOf(request)
  const credentials = teamId === null ? new Map<string, string[]>() : await credentialNames(db, teamId)
  const means: Means = { credentials, payRefusal: (pricing) => payRefusal(key, pricing) }
  return chooseBackend(await listBackends(db), wishes, job, means, at)
}
