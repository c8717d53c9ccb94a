// Jobs with results and capsules made from them, created by the product's own functions.

import { sealCapsule } from '../../../apps/api/capsules/seal-capsule.js'
import { sealContent } from '../../../capsule-format/seal-content.js'
import { createCapsule } from '../../../db/capsules/capsule-changes.js'
import { createCapsuleOfJob } from '../../../db/capsules/capsule-of-job.js'
import { archiveCapsule, publishCapsule } from '../../../db/capsules/capsule-seals.js'
import { lockCapsule } from '../../../db/capsules/capsules.js'
import type { Db } from '../../../db/client.js'
import { beginJob, completeJob } from '../../../db/job-steps/job-steps.js'
import type { Artifact } from '../../../db/jobs/artifacts.js'
import { completeAttempt, openAttempt } from '../../../db/jobs/attempts.js'
import { createInstallationSigner } from '../../../services/keys/signer.js'
import { testKeyRing } from '../api/api.js'
import { bellQasm3 } from '../jobs/builders.js'
import { addJob, type JobChoices, type Person } from '../jobs/rows.js'

/** A result as the executor returns it. */
export function bellResult(counts: Record<string, number> = { '00': 51, '11': 49 }): string {
  const shots = Object.values(counts).reduce((sum, count) => sum + count, 0)
  return JSON.stringify({
    counts,
    shots,
    backend: 'local',
    execution_time_ms: 3.5,
    circuit_info: { num_qubits: 2, num_clbits: 2, depth: 3, gate_counts: { h: 1, cx: 1 } },
    metadata: {
      bit_order: 'qubit 0 leftmost',
      count_source: 'simulator_sampled',
      shots_requested: shots,
      shots_observed: shots,
      registers: [{ name: 'c', size: 2, qubits: [0, 1] }],
      circuit_sha256: 'a'.repeat(64),
      seed: null,
      engine: 'statevector',
      engine_version: '0.17.2',
      framework_version: 'qiskit 2.1.0',
      optimization_level: 1,
      provider_job_id: null,
      calibration_id: null
    },
    warnings: []
  })
}

/** The result of a program that returned a value without counts. */
export function energyResult(seed: number | null): string {
  const { counts, circuit_info, ...rest } = JSON.parse(bellResult())
  const metadata = { ...rest.metadata, count_source: null, registers: null, circuit_sha256: null, seed }
  return JSON.stringify({ energy: -1.137, ...rest, metadata })
}

const circuit: Artifact = {
  name: 'circuit.qasm',
  mediaType: 'text/plain; charset=utf-8',
  content: Buffer.from(bellQasm3())
}

/** Runs a pending job to its end, like a worker. */
export async function finishJob(
  db: Db,
  jobId: string,
  result: string = bellResult(),
  files: Artifact[] = [circuit]
): Promise<void> {
  const fence = { generation: 1 }
  await beginJob(db, jobId, fence)
  const number = await openAttempt(db, jobId, fence)
  const sha256 = await completeAttempt(db, jobId, number!, result, files)
  await completeJob(db, jobId, fence, sha256!)
}

/** A completed job with a result. */
export async function addFinishedJob(db: Db, person: Person, choices: JobChoices = {}): Promise<string> {
  const id = await addJob(db, person, choices)
  await finishJob(db, id)
  return id
}

/** A runnable capsule with a job of its own. */
export async function addCapsuleOfJob(db: Db, owner: Person, teamId: string): Promise<string> {
  const jobId = await addFinishedJob(db, owner, { submission: { teamId } })
  return db.transaction(async (tx) => {
    const { id } = await createCapsuleOfJob(
      tx,
      { jobId, teamId, ownerId: owner.userId, name: 'A Bell pair' },
      { actor: `user:${owner.userId}` }
    )
    return id
  })
}

/** The same, sealed; with `publish`, also published. */
export async function addSealedCapsule(
  db: Db,
  owner: Person,
  teamId: string,
  then?: 'publish' | 'archive',
  beforeSeal: (id: string) => Promise<void> = async () => {}
): Promise<string> {
  const id = await addCapsuleOfJob(db, owner, teamId)
  await beforeSeal(id)
  const signer = await createInstallationSigner(db, testKeyRing)()
  const actor = `user:${owner.userId}`
  await db.transaction(async (tx) => {
    const capsule = (await lockCapsule(tx, id))!
    const caller = { ...owner, key: null }
    const sealed = await sealCapsule(
      tx,
      { caller, signer, at: new Date(), seal: sealContent },
      capsule,
      { exit_code: 0 },
      async () => capsule
    )
    if (then === 'archive') await archiveCapsule(tx, sealed, actor)
    if (then === 'publish')
      await publishCapsule(
        tx,
        sealed,
        { title: `Bell ${id}`, description: 'd', readme: null, license: null, category: null, tags: [] },
        actor
      )
  })
  return id
}

/** A draft with one task and no run. */
export const addDraftCapsule = (db: Db, owner: Person, teamId: string): Promise<string> =>
  db.transaction((tx) =>
    createCapsule(
      tx,
      {
        teamId,
        ownerId: owner.userId,
        state: 'draft',
        name: 'A draft',
        description: '',
        tags: [],
        definition: {
          tasks: [
            {
              name: 'main',
              source: { kind: 'inline', framework: 'openqasm', text: bellQasm3() },
              backend: 'local',
              parameters: { shots: 100 },
              execution_mode: 'direct',
              timeout_seconds: 60,
              circuit_count: 1
            }
          ]
        },
        maxBudget: null,
        retentionYears: null,
        regulatoryFramework: null
      },
      { actor: `user:${owner.userId}` }
    )
  )
