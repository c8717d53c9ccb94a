// Which providers the workers of this installation serve, and what the providers report about their machines.
import { and, asc, eq, isNotNull, isNull, ne, notInArray, sql } from 'drizzle-orm'
import { type Backend, type BackendStatus, isAtProvider } from '../../domain/backends/backend.js'
import { missingForJob } from '../../domain/backends/provider-credentials.js'
import { credentialsOfProvider } from '../../domain/backends/quantum-providers.js'
import { ServiceError } from '../../domain/errors.js'
import type { Db, DbOrTx } from '../client.js'
import { now } from '../clock.js'
import { backends } from '../tables/backends.js'
import { jobs } from '../tables/jobs.js'
import { providerJobs, providerWorkers } from '../tables/providers.js'
import { teamSecrets } from '../tables/teams.js'

/**
 * A worker that has not declared a provider for this long may never return. Jobs for the provider are then refused
 * instead of kept waiting.
 */
export const DECLARED_HOURS = 24

/**
 * While a worker is briefly away, jobs wait. They are refused only when no worker has declared the provider for a day.
 */
export const servedByWorker = sql<boolean>`exists (select 1 from ${providerWorkers}
  where ${providerWorkers.provider} = ${backends.provider}
    and ${providerWorkers.declaredAt} > clock_timestamp() - make_interval(hours => ${DECLARED_HOURS}))`

/** Whether workers call an emulator in the place of the backend's provider. */
export const emulatedByWorker = sql<boolean>`(${backends.engine} is null and exists (select 1 from ${providerWorkers}
  where ${providerWorkers.provider} = ${backends.provider} and ${providerWorkers.emulated}))`

/** @param emulated whether the worker calls emulators. */
export async function declareProviders(db: Db, providers: readonly string[], emulated = false): Promise<void> {
  if (providers.length === 0) return
  await db
    .insert(providerWorkers)
    .values(providers.map((provider) => ({ provider, declaredAt: now, emulated })))
    .onConflictDoUpdate({ target: providerWorkers.provider, set: { declaredAt: now, emulated } })
}

export interface ProviderState {
  provider: string
  /** When a worker last declared the provider; `null` when none ever has. */
  workerSeenAt: Date | null
  backends: number
  online: number
  /** When the provider last reported the state of its machines. */
  askedAt: Date | null
}

/** For every provider in the catalogue, without local engines. */
export async function providerStates(db: DbOrTx): Promise<ProviderState[]> {
  return db
    .select({
      provider: backends.provider,
      workerSeenAt: sql<Date | null>`max(${providerWorkers.declaredAt})`.mapWith(providerWorkers.declaredAt),
      backends: sql<number>`count(*)::int`,
      online: sql<number>`(count(*) filter (where ${backends.status} = 'online'))::int`,
      askedAt: sql<Date | null>`max(${backends.queueUpdatedAt})`.mapWith(backends.queueUpdatedAt)
    })
    .from(backends)
    .leftJoin(providerWorkers, eq(providerWorkers.provider, backends.provider))
    .where(isNull(backends.engine))
    .groupBy(backends.provider)
    .orderBy(asc(backends.provider))
}

/** For how many seconds the machines of each provider have not been read by any worker; none that were never read. */
export async function secondsSinceReads(db: DbOrTx): Promise<Map<string, number>> {
  const rows = await db
    .select({
      provider: backends.provider,
      seconds: sql<number>`extract(epoch from ${now} - max(${backends.queueUpdatedAt}))::float8`
    })
    .from(backends)
    .where(and(isNull(backends.engine), isNotNull(backends.queueUpdatedAt)))
    .groupBy(backends.provider)
  return new Map(rows.map(({ provider, seconds }) => [provider, seconds]))
}

/**
 * The team whose credentials for the provider were used last, or some team that has any; never credentials that the
 * provider has rejected. `null` when there are none.
 * @param except teams.
 */
export async function teamWithCredentials(
  db: DbOrTx,
  provider: string,
  credentials: string,
  except: readonly string[]
): Promise<string | null> {
  const lastUse = sql`(select max(${providerJobs.seenAt}) from ${providerJobs} join ${jobs} on ${jobs.id} = ${providerJobs.jobId}
    where ${jobs.teamId} = ${teamSecrets.teamId} and ${providerJobs.provider} = ${provider}
      and ${providerJobs.createdAt} > ${now} - interval '30 days')`
  const [row] = await db
    .select({ teamId: teamSecrets.teamId })
    .from(teamSecrets)
    .where(and(eq(teamSecrets.provider, credentials), notInArray(teamSecrets.teamId, [...except])))
    .groupBy(teamSecrets.teamId)
    .having(sql`not bool_or(${teamSecrets.validationStatus} = 'invalid')`)
    .orderBy(sql`${lastUse} desc nulls last`, teamSecrets.teamId)
    .limit(1)
  return row?.teamId ?? null
}

/** The names of the values that the team has stored for each provider. */
export async function credentialNames(db: DbOrTx, teamId: string): Promise<Map<string, string[]>> {
  const rows = await db
    .select({ provider: teamSecrets.provider, name: teamSecrets.keyName })
    .from(teamSecrets)
    .where(eq(teamSecrets.teamId, teamId))
  const names = new Map<string, string[]>()
  for (const { provider, name } of rows) names.set(provider, [...(names.get(provider) ?? []), name])
  return names
}

/** Refuses a job that could not run at its provider for lack of credentials. */
export async function assertCredentials(tx: DbOrTx, teamId: string, backend: Backend): Promise<void> {
  if (credentialsFor(backend)) assertStored(await credentialNames(tx, teamId), backend)
}

const credentialsFor = (backend: Backend) =>
  isAtProvider(backend) ? credentialsOfProvider[backend.provider] : undefined

/**
 * @param stored the names of the values that the team has stored for each provider.
 * @throws ServiceError `backend_unavailable`.
 */
export function assertStored(stored: ReadonlyMap<string, readonly string[]>, backend: Backend): void {
  const provider = credentialsFor(backend)
  if (!provider) return
  const names = stored.get(provider) ?? []
  if (names.length === 0)
    throw new ServiceError(
      'backend_unavailable',
      `backend: ${backend.slug} needs the team's own credentials for ${backend.provider}: an owner or admin stores them ` +
        `(provider ${provider})`
    )
  const missing = missingForJob(provider, names, backend)
  if (missing) throw new ServiceError('backend_unavailable', `backend: ${backend.slug}: ${missing}`)
}

export interface ReportedBackend {
  target: string
  status: BackendStatus | 'retired'
  queueLength: number | null
  queueTimeSeconds: number | null
}

/**
 * Records what a provider reports about its machines. A backend that an administrator has put into maintenance stays
 * there.
 */
export async function recordBackends(db: Db, provider: string, seen: readonly ReportedBackend[]): Promise<void> {
  for (const { target, status: reported, queueLength, queueTimeSeconds } of seen) {
    const status = reported === 'retired' ? 'offline' : reported
    await db
      .update(backends)
      .set({
        status,
        // Only its return ends a retirement: an unavailable machine can be a retired one.
        ...(reported === 'retired' && { isRetired: true }),
        ...(reported === 'online' && { isRetired: false }),
        queueLength,
        queueTimeSeconds,
        queueUpdatedAt: now,
        statusUpdatedAt: now,
        // Only a change of status invalidates what clients have cached.
        updatedAt: sql`case when ${backends.status} = ${status} and ${backends.isRetired} = ${reported === 'retired'} then ${backends.updatedAt} else ${now} end`
      })
      .where(
        and(eq(backends.provider, provider), eq(backends.providerTargetId, target), ne(backends.status, 'maintenance'))
      )
  }
}
