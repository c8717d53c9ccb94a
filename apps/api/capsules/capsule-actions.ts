// What the caller can do with a capsule now. Each action asks the functions that refuse it, and repeats their words.
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { assertCanRun } from '../../../db/capsule-runs/capsule-runs.js'
import { assertNoOpenRun } from '../../../db/capsules/capsule-changes.js'
import { evidenceJobs } from '../../../db/capsules/capsule-evidence.js'
import { type CapsuleRow, standingOf } from '../../../db/capsules/capsules.js'
import type { DbOrTx } from '../../../db/client.js'
import { assertMay, assertState, type CapsuleAction } from '../../../domain/capsules/capsule-actions.js'
import { MAIN_TASK } from '../../../domain/capsules/capsule-definition.js'
import type { CapsuleRunMode } from '../../../domain/capsules/capsule-state.js'
import { ServiceError } from '../../../domain/errors.js'
import type { ApiDeps } from '../deps.js'
import { actorOf, assertMayCall, callerOf, readTeam } from '../http/access.js'
import { accessTable, type RouteLine } from '../http/access-table.js'
import { assertKeyMayPay } from '../http/limits/key-limits.js'
import { assertActive } from '../http/team-access.js'
import { Verdict, verdictLater } from '../http/verdict.js'
import { assertKeyMaySchedule, assertTestable, assertVerifiable, noSchedule } from './capsule-schedule.js'
import { assertHasEvidence } from './seal-capsule.js'

export const CapsuleActions = Type.Object(
  {
    update: Verdict,
    delete: Verdict,
    seal: Verdict,
    publish: Verdict,
    archive: Verdict,
    verify: Verdict,
    run: Verdict,
    clone: Verdict,
    schedule: Verdict,
    end_schedule: Verdict,
    backfill: Verdict
  },
  {
    $id: 'CapsuleActions',
    description:
      '`true`, or the words with which a request would be refused now. `verify` and `run` are the two modes of a run, ' +
      '`clone` is about a clone in the same team. Budgets, sizes and limits of requests are checked later'
  }
)

/** Whether seals can be signed. To be asked outside transactions, because the key may have to be created. */
export const canSign = ({ signer }: Pick<ApiDeps, 'signer'>): Promise<Verdict> =>
  verdictLater(async () => void (await signer()))

/** @param scheduled whether it has a schedule. @param signing the answer of `canSign`. */
export async function actionsOf(
  db: DbOrTx,
  request: FastifyRequest,
  capsule: CapsuleRow,
  { scheduled, signing }: { scheduled: boolean; signing: Verdict }
): Promise<Static<typeof CapsuleActions>> {
  const team = await readTeam(request, db, capsule.teamId)
  const standing = await standingOf(db, callerOf(request), capsule)
  const actor = actorOf(request)
  const can = (line: RouteLine, action: CapsuleAction, more: () => Promise<void> | void = () => {}) =>
    verdictLater(async () => {
      assertMayCall(request, accessTable[line]!)
      assertActive(team)
      assertMay(action, standing)
      assertState(action, capsule.state)
      await more()
    })
  const runs = (mode: CapsuleRunMode) =>
    can('POST /api/capsules/:id/run', 'run', () =>
      assertCanRun(db, capsule, mode, ({ pricing }) => assertKeyMayPay(actor.key, pricing))
    )
  return {
    update: await can('PATCH /api/capsules/:id', 'update'),
    delete: await can('DELETE /api/capsules/:id', 'delete', () => assertNoOpenRun(db, capsule)),
    seal: await can('POST /api/capsules/:id/seal', 'seal', async () => {
      await assertHasEvidence(db, capsule, await evidenceJobs(db, capsule, MAIN_TASK))
      if (signing !== true) throw new ServiceError('not_available', signing)
    }),
    publish: await can('POST /api/capsules/:id/publish', 'publish'),
    archive: await can('POST /api/capsules/:id/archive', 'archive'),
    verify: await runs('verify'),
    run: await runs('template'),
    clone: await can('POST /api/capsules/:id/clone', 'clone'),
    schedule: await can('PUT /api/capsules/:id/schedule', 'schedule', async () => {
      assertVerifiable(capsule)
      await assertTestable(db, capsule)
      await assertKeyMaySchedule(db, actor, capsule)
    }),
    end_schedule: await can('DELETE /api/capsules/:id/schedule', 'schedule', () => {
      if (!scheduled) throw noSchedule()
    }),
    backfill: await can('POST /api/capsules/:id/schedule/backfill', 'schedule', () => {
      assertVerifiable(capsule)
      if (!scheduled) throw noSchedule()
    })
  }
}
