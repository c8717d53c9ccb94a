// Azure Quantum (data plane of 2026-01-15-preview). The id of a job is made from its token: finding it is one GET. Programs and
// results lie in the storage account of the team's workspace.
import { type Credentials, missingForJob } from '../../../domain/backends/provider-credentials.js'
import type { Place } from '../../../domain/backends/provider-job.js'
import { type CreateProviderCalls, type Located, ProviderFault } from '../adapter.js'
import { TimedCache } from '../timed-cache.js'
import { createAddressCheck } from './addresses.js'
import { answerOf, textOf } from './answers.js'
import { backendState, factsOf, type TargetState, targetsOf } from './devices.js'
import { createIdentity } from './identity.js'
import { type AzureJob, bodyOf, durationOf, isJob, jobIdOf, timeOf, viewOf } from './jobs.js'
import { countsOfResult, isOutputFormat, resultBytesMax } from './results.js'
import { createStorage } from './storage.js'
import { targetOf } from './targets.js'
import { accessNameOf, accountOf, createWorkspaces } from './workspace.js'

const CACHED_MAX = 1000
const CACHED_MS = 5 * 60_000

export const createAzure: CreateProviderCalls<'login' | 'manager' | 'quantum'> = (urls = {}, callTimeoutMs) => {
  const checked = createAddressCheck(urls.quantum)
  const identity = createIdentity(urls.login, callTimeoutMs)
  const workspaces = createWorkspaces(identity, checked, urls, callTimeoutMs)
  const storage = createStorage(workspaces, checked, callTimeoutMs)
  const targets = new TimedCache<TargetState[]>(CACHED_MAX, CACHED_MS)

  /** For an accepted job, which only credentials of its own workspace show. */
  async function jobOf({ credentials, place }: Located, id: string, signal: AbortSignal): Promise<AzureJob> {
    assertSame(credentials, place)
    const call = { method: 'GET', path: jobPath(id) } as const
    return answerOf<AzureJob>(await workspaces.call(credentials, call, signal))
  }

  return {
    // The id is ours, but Azure documents its PUT as "create" alone, and not what a second one does.
    submitsOnce: false,
    devicesArePublic: false,
    billsSeconds: false,
    rates: null,

    async verify(credentials, signal) {
      const missing = missingOf(credentials)
      if (missing) throw new ProviderFault('unauthorized', missing)
      // A token from before would prove nothing about the secret.
      identity.forget(credentials)
      const found = await targetsOf(workspaces, credentials, signal)
      return {
        account: accountOf(credentials),
        region: credentials.location!,
        devices: found.filter(({ status }) => status === 'online').map(({ id }) => id)
      }
    },

    async place(credentials) {
      const missing = missingOf(credentials)
      if (missing) throw new ProviderFault('refused', missing)
      return { account: accountOf(credentials), location: credentials.location! }
    },

    async describe(credentials, { target: id, width }, signal) {
      const target = targetOf(id)
      const found = await targets.get(accessNameOf(credentials), () => targetsOf(workspaces, credentials, signal))
      const state = found.find((one) => one.id === id)
      if (state) return factsOf(target, state, width)
      throw new ProviderFault(
        'refused',
        `${id} is not in the workspace ${accountOf(credentials)}: add the provider ${target.provider} to it in Azure's portal`
      )
    },

    async stage({ credentials }, task, signal) {
      const id = jobIdOf(task.token)
      const { mediaType } = targetOf(task.target)
      const files = await storage.upload(credentials, { job: id, text: task.program.text, mediaType }, signal)
      const call = { method: 'PUT', path: jobPath(id), json: bodyOf(task, files) } as const
      const submit = await workspaces.prepare(credentials, call, signal)
      return async (submitSignal) => {
        if (isJob(answerOf<AzureJob>(await submit(submitSignal)), id)) return id
        throw new ProviderFault('unclear', 'Azure Quantum accepted without naming the job')
      }
    },

    async find({ credentials, place }, { token }, _since, signal) {
      assertSame(credentials, place)
      const id = jobIdOf(token)
      const call = { method: 'GET', path: jobPath(id), answers: [404] } as const
      const response = await workspaces.call(credentials, call, signal)
      if (response.status === 404) {
        // It is the job that is missing, not its workspace.
        await targetsOf(workspaces, credentials, signal)
        return null
      }
      if (isJob(answerOf<AzureJob>(response), id)) return id
      throw new ProviderFault('unclear', 'Azure Quantum answered with another job')
    },

    async look(at, id, signal) {
      return viewOf(await jobOf(at, id, signal))
    },

    async counts(at, id, task, signal) {
      const job = await jobOf(at, id, signal)
      const { outputDataFormat: format, outputDataUri: address } = job
      if (!isOutputFormat(format))
        throw new ProviderFault('refused', `Azure Quantum's results have the unknown form ${textOf(format)}`)
      if (typeof address !== 'string')
        throw new ProviderFault('not_found', 'Azure Quantum did not say yet where the result is')
      const bytesMax = resultBytesMax(format, task)
      const endedAt = timeOf(job.endExecutionTime)
      const text = await storage.read(at.credentials, { job: id, address, bytesMax, endedAt }, signal)
      try {
        const counts = countsOfResult(text, format, textOf(job.target), task)
        return { ...counts, executionTimeMs: durationOf(job), calibrationId: null }
      } catch (error) {
        throw new ProviderFault('refused', `Azure Quantum's results cannot be read: ${(error as Error).message}`)
      }
    },

    async cancel({ credentials, place }, id, signal) {
      assertSame(credentials, place)
      // 409: the job is over.
      const call = { method: 'POST', path: `${jobPath(id)}:cancel`, answers: [409] } as const
      await workspaces.call(credentials, call, signal)
    },

    async backends(credentials, signal) {
      if (!credentials) throw new ProviderFault('unauthorized', 'Azure Quantum shows its targets only with credentials')
      return (await targetsOf(workspaces, credentials, signal)).map(backendState)
    },

    async close() {
      await Promise.all([identity.close(), workspaces.close(), storage.close()])
    }
  }
}

const jobPath = (id: string): string => `/jobs/${encodeURIComponent(id)}`

const missingOf = (credentials: Credentials): string | null =>
  missingForJob('azure-quantum', Object.keys(credentials), { deviceType: 'qpu' })

/** @throws ProviderFault `unauthorized` when the credentials are of another workspace than the job. */
function assertSame(credentials: Credentials, { account }: Place): void {
  const present = accountOf(credentials)
  if (account === undefined || account === present) return
  throw new ProviderFault(
    'unauthorized',
    `the team's azure-quantum credentials are now of the workspace ${present}; the job is in ${account}: store credentials of ${account} again`
  )
}
