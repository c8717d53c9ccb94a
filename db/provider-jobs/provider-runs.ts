// What the steps at a provider read of their job, and the files that they pass to each other.
import { and, eq, inArray, sql } from 'drizzle-orm'
import type { RequestedCircuit } from '../../domain/jobs/script-requests.js'
import { pricingColumns, pricingOf } from '../backends/pricing.js'
import type { Db, DbOrTx } from '../client.js'
import { now } from '../clock.js'
import { type Artifact, findArtifact, sha256Of } from '../jobs/artifacts.js'
import type { Fence } from '../jobs/fence.js'
import { runColumns } from '../jobs/jobs.js'
import { wholeOf } from '../stored-content.js'
import { backends } from '../tables/backends.js'
import { artifacts, jobs, jobTasks, scriptRequests } from '../tables/jobs.js'
import { providerJobs } from '../tables/providers.js'
import { providerJobAt } from './provider-jobs.js'
import type { ProviderRef } from './provider-refs.js'

/** The file with what the provider said about the device when the program was compiled. */
export const deviceFileOf = ({ task, attempt, asked }: ProviderRef): string =>
  asked ? `${task || 'script'}-${attempt}.device.json` : 'device.json'

/** The file with the compiled program and the meaning of its results: JSON text, as the executor returned it. */
export const compiledFileOf = ({ task, attempt, asked }: ProviderRef): string =>
  asked ? `${task || 'script'}-${attempt}.compiled-program.json` : 'compiled-program.json'

/** The last field of a requested circuit's body. The steps at a provider do not load the circuit for it. */
const requestedShots = sql<number | null>`substring(right(${scriptRequests.body}, 40) from '"shots":([0-9]+)}$')::int`

export async function loadProviderRun(db: DbOrTx, ref: ProviderRef) {
  const [row] = await db
    .select({
      ...runColumns,
      provider: jobs.provider,
      /** `null` when the backend is no longer in the catalogue. */
      target: backends.providerTargetId,
      isRetired: backends.isRetired,
      pricing: pricingColumns,
      jobShots: jobs.shots,
      name: jobs.name,
      programmingModel: jobs.programmingModel,
      /** Whether it is a script that has made a request to the service. */
      hasAsked: sql<boolean>`exists (select 1 from ${scriptRequests} asked where asked.job_id = ${jobs.id})`,
      secondsCancelling: sql<
        number | null
      >`extract(epoch from ${now} - coalesce(${jobs.cancelRequestedAt}, ${providerJobs.cancelRequestedAt}))::float8`,
      secondsStarted: sql<number | null>`extract(epoch from ${now} - ${jobs.startedAt})::float8`,
      secondsSilent: sql<number | null>`extract(epoch from ${now} - ${providerJobs.seenAt})::float8`,
      secondsSent: sql<number | null>`extract(epoch from ${now} - ${providerJobs.lastSentAt})::float8`,
      secondsAccepted: sql<number | null>`extract(epoch from ${now} - ${providerJobs.acceptedAt})::float8`,
      secondsEnded: sql<number | null>`extract(epoch from ${now} - ${providerJobs.endedAt})::float8`,
      task: providerJobs,
      /** The function of the graph's task that requested the circuit. */
      funcName: jobTasks.funcName,
      ask: {
        state: scriptRequests.state,
        shots: requestedShots,
        seconds: sql<number | null>`extract(epoch from ${now} - ${scriptRequests.createdAt})::float8`
      }
    })
    .from(jobs)
    .leftJoin(backends, eq(backends.slug, jobs.backend))
    .leftJoin(providerJobs, providerJobAt(ref))
    .leftJoin(jobTasks, and(eq(jobTasks.jobId, jobs.id), eq(jobTasks.key, ref.task)))
    .leftJoin(
      scriptRequests,
      and(
        sql`${ref.asked}::boolean`,
        eq(scriptRequests.jobId, jobs.id),
        eq(scriptRequests.task, ref.task),
        eq(scriptRequests.number, ref.attempt)
      )
    )
    .where(eq(jobs.id, ref.jobId))
  if (!row) return null
  return { ...row, pricing: row.pricing && pricingOf(row.pricing), shots: row.ask?.shots ?? row.jobShots }
}

/** The text of a requested circuit, OpenQASM 3. */
export async function requestedCircuit(db: DbOrTx, { jobId, task, attempt }: ProviderRef): Promise<string> {
  const [row] = await db
    .select({ body: scriptRequests.body })
    .from(scriptRequests)
    .where(and(eq(scriptRequests.jobId, jobId), eq(scriptRequests.task, task), eq(scriptRequests.number, attempt)))
  return (JSON.parse(row!.body) as Pick<RequestedCircuit, 'openqasm3'>).openqasm3
}

export type ProviderRun = NonNullable<Awaited<ReturnType<typeof loadProviderRun>>>

/** Stores files of a running job, or nothing when this worker has lost the job. */
export async function storeFiles(db: Db, jobId: string, fence: Fence, files: readonly Artifact[]): Promise<boolean> {
  return db.transaction(async (tx) => {
    const [mine] = await tx
      .select({ id: jobs.id })
      .from(jobs)
      .where(
        and(eq(jobs.id, jobId), eq(jobs.generation, fence.generation), inArray(jobs.status, ['running', 'cancelling']))
      )
      .for('no key update')
    if (!mine) return false
    await tx
      .insert(artifacts)
      .values(
        files.map(({ name, mediaType, content }) => ({
          jobId,
          name,
          mediaType,
          content,
          sha256: sha256Of(content),
          sizeBytes: content.length
        }))
      )
      .onConflictDoNothing()
    return true
  })
}

/** The text of the newest file with that name. */
export async function fileText(db: DbOrTx, jobId: string, name: string): Promise<string | null> {
  const found = await findArtifact(db, jobId, name)
  return found && ((await wholeOf(db, found.stored))?.toString('utf8') ?? null)
}
