// Versions of workflow code in Temporal's worker deployments. A job of some minutes stays with workers of the version that
// began it; a job at a provider, and a scheduled verification, move to the current version (workflows/index.ts).
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Client } from '@temporalio/client'
import { ServiceError } from '@temporalio/client'
import type { WorkerDeploymentVersion } from '@temporalio/common'
import { hasWorkers } from './build-workers.js'

const DEADLINE_MS = 5_000
const BUILD_LENGTH = 16
const NOT_FOUND = 5

/** The version of the workflow code in a bundle: its digest, so that equal code is one version however it was built. */
export const versionOf = (deploymentName: string, workflowBundle: string): WorkerDeploymentVersion => ({
  deploymentName,
  buildId: createHash('sha256').update(readFileSync(workflowBundle)).digest('hex').slice(0, BUILD_LENGTH)
})

/** `own`: new workflows start in this version. `unknown`: the server has not seen a worker of it yet. */
export type CurrentVersion = { state: 'own' } | { state: 'unknown' } | { state: 'other'; build: string }

/**
 * Makes a version current where none is, and where the current one has no workers (the server forgets a worker after five
 * minutes): nothing else could run new jobs. Otherwise it is the operator who decides when a version becomes current.
 * @throws what the client throws while Temporal is away, or does not allow it.
 */
export async function ensureCurrentVersion(
  temporal: Client,
  taskQueue: string,
  version: WorkerDeploymentVersion
): Promise<CurrentVersion> {
  const { deploymentName, buildId } = version
  const { namespace } = temporal.options
  const service = temporal.workflowService
  const inTime = <T>(call: () => Promise<T>) => temporal.withDeadline(Date.now() + DEADLINE_MS, call)
  const described = await inTime(() => service.describeWorkerDeployment({ namespace, deploymentName })).catch(
    (error: unknown) => {
      if (codeOf(error) === NOT_FOUND) return null
      throw error
    }
  )
  const info = described?.workerDeploymentInfo
  const isKnown = info?.versionSummaries?.some((one) => one.deploymentVersion?.buildId === buildId) ?? false
  if (!info || !isKnown) return { state: 'unknown' }
  const current = info.routingConfig?.currentDeploymentVersion?.buildId
  if (current === buildId) return { state: 'own' }
  if (current && (await inTime(() => hasWorkers(temporal, taskQueue, current))))
    return { state: 'other', build: current }
  // The token: of several workers that find none, one succeeds.
  await inTime(() =>
    service.setWorkerDeploymentCurrentVersion({
      namespace,
      deploymentName,
      buildId,
      conflictToken: described!.conflictToken ?? null,
      ignoreMissingTaskQueues: true
    })
  )
  return { state: 'own' }
}

const codeOf = (error: unknown): unknown =>
  error instanceof ServiceError ? codeOf(error.cause) : (error as { code?: unknown } | undefined)?.code
