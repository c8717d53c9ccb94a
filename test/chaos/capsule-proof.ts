// The invariants of capsules after a chaos run, checked in the database, in the audit trail, and on downloaded files without
// the service.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readPackage } from '../../capsule-format/package-reader.js'
import { verifyPackage } from '../../capsule-format/package-verification.js'
import type { Connection } from '../../db/client.js'
import type { AuditAction } from '../../domain/audit/audit-action.js'
import { readDefinition } from '../../domain/capsules/capsule-definition.js'
import type { CapsuleRunStatus, CapsuleState } from '../../domain/capsules/capsule-state.js'
import { alertOutcomes } from '../../domain/verification/schedule-names.js'
import type { TrackedCapsule } from './capsule-load.js'
import { type ChaosClient, retryUntilResponse } from './client.js'
import { checkJob, type Findings, type JobRow } from './job-proof.js'

interface RunRow {
  id: string
  capsuleId: string
  mode: 'verify' | 'template'
  trigger: string
  status: CapsuleRunStatus
  reason: string | null
  definition: string
  verdict: string | null
  confirms: string | null
  alerted: number | null
  completed: number | null
  /** In the order of their starts. */
  tasks: { name: string; jobId: string }[]
  /** The number of jobs that name this run. */
  jobs: number
}

interface CapsuleRow {
  id: string
  name: string
  state: CapsuleState
  promised: boolean
  capsuleDigest: string | null
  /** The number of files that the seal lists, and of those that exist. */
  sealedFiles: number
  files: number
  published: boolean
  scheduled: boolean
}

export interface CapsuleFacts {
  tracked: readonly TrackedCapsule[]
  jobs: readonly JobRow[]
  /** The client of a member of the capsules' team. */
  client: ChaosClient
  /** The data folder of the stack. */
  dataDir: string
}

/** @param findings collects the violations. */
export async function proveCapsules(connection: Connection, facts: CapsuleFacts, findings: Findings): Promise<void> {
  const { tracked, jobs, client, dataDir } = facts
  const capsules = await capsulesOf(connection)
  const runs = await runsOf(connection)
  const byId = new Map(tracked.map((capsule) => [capsule.id, capsule]))
  checkThere(tracked, capsules, findings)
  checkPromised(jobs, capsules, findings)
  for (const capsule of capsules) checkState(capsule, byId.get(capsule.id)?.responseLost ?? false, findings)
  checkJobsOfRuns(jobs, tracked, runs, findings)
  for (const run of runs) checkRun(run, byId.get(run.capsuleId), jobs, findings)
  for (const capsule of tracked) {
    const own = runs.filter(({ capsuleId }) => capsuleId === capsule.id)
    const lost = capsule.runIds.filter((id) => !own.some((run) => run.id === id))
    const isThere = capsules.some(({ id }) => id === capsule.id)
    if (isThere && lost.length > 0)
      findings['capsules lost'].push(`${capsule.name}: its runs ${lost.join(', ')} are gone`)
    const asked = own.filter(({ trigger }) => trigger === 'request' || trigger === 'backfill').length
    if (isThere && !capsule.responseLost && asked > capsule.runIds.length)
      findings['runs created twice'].push(`${capsule.name}: ${asked} runs for ${capsule.runIds.length} confirmed ones`)
    checkAlerts(capsule, own, dataDir, findings)
  }
  await checkTrail(connection, tracked, capsules, runs, findings)
  await checkTeams(connection, client, findings)
  await checkSeals(tracked, capsules, client, findings)
  checkDeadlocks(dataDir, findings)
}

function checkThere(tracked: readonly TrackedCapsule[], capsules: readonly CapsuleRow[], findings: Findings): void {
  const there = new Map(capsules.map((capsule) => [capsule.id, capsule]))
  for (const { id, name, changes, digest, responseLost } of tracked) {
    const capsule = there.get(id)
    if (!capsule && !changes['capsule.deleted'] && !responseLost)
      findings['capsules lost'].push(`${name} ${id} is gone`)
    if (capsule && changes['capsule.deleted'])
      findings['capsules lost'].push(`${name} ${id} was deleted and still exists`)
    if (capsule && digest && capsule.capsuleDigest !== digest)
      findings['capsules lost'].push(`${name} ${id} was sealed as ${digest} and is now ${capsule.capsuleDigest}`)
    const wanted = changes['capsule.published'] ? 'published' : changes['capsule.archived'] ? 'archived' : null
    if (wanted && capsule?.state !== wanted)
      findings['capsules lost'].push(`${name} ${id} was confirmed as ${wanted} and is ${capsule?.state}`)
  }
  const trackedIds = new Set(tracked.map(({ id }) => id))
  // A capsule that a job creates can appear after its scenario has stopped waiting.
  const unknown = capsules.filter(({ id, promised }) => !trackedIds.has(id) && !promised)
  findings['unexpected capsules'].push(...unknown.map(({ id, name }) => `${name} ${id}`))
}

/** A job with `create_capsule` has exactly one capsule if it completed, and none otherwise. */
function checkPromised(jobs: readonly JobRow[], capsules: readonly CapsuleRow[], findings: Findings): void {
  for (const { id, name, status, createsCapsule, capsuleId, capsulesOfIt } of jobs) {
    if (!createsCapsule) continue
    const due = status === 'completed' ? 1 : 0
    const named = capsules.some((capsule) => capsule.id === capsuleId)
    if (capsulesOfIt < due) findings['capsules lost'].push(`${name} ${id}: ${status} without its capsule`)
    if (capsulesOfIt > due || (due === 1 && !named))
      findings['unexpected capsules'].push(
        `${name} ${id}: ${status}, with ${capsulesOfIt} capsules, names ${capsuleId}`
      )
  }
}

function checkState(capsule: CapsuleRow, isResponseLost: boolean, findings: Findings): void {
  const { state, capsuleDigest, files, sealedFiles, published, scheduled } = capsule
  const isSealed = capsuleDigest !== null
  const wrong = [
    isSealed !== ['sealed', 'published', 'archived'].includes(state) && (isSealed ? 'has a seal' : 'has no seal'),
    // The definition is a file in the package, and a column in the database.
    isSealed && files + 1 !== sealedFiles && `has ${files} files next to its definition instead of ${sealedFiles}`,
    state === 'draft' && files > 0 && `has ${files} files`,
    state === 'runnable' && files === 0 && 'has no files',
    published !== (state === 'published') && (published ? 'is in the public list' : 'is not in the public list'),
    // Every scenario deletes its schedule.
    scheduled && !isResponseLost && 'has a schedule'
  ].filter((what) => what !== false)
  findings['inconsistent capsules'].push(...wrong.map((what) => `${capsule.name} ${capsule.id}: ${state}, and ${what}`))
}

/** Includes runs whose capsule was deleted. */
function checkJobsOfRuns(
  jobs: readonly JobRow[],
  tracked: readonly TrackedCapsule[],
  runs: readonly RunRow[],
  findings: Findings
): void {
  const stopped = new Set(runs.filter(({ status }) => status !== 'completed').map(({ id }) => id))
  const gone = (runId: string) => !runs.some(({ id }) => id === runId)
  for (const job of jobs) {
    if (job.runId === null) continue
    const capsule = tracked.find(({ id }) => id === job.capsuleId)
    if (!capsule) {
      findings['unexpected capsules'].push(`${job.name} ${job.id} belongs to a run of ${job.capsuleId}`)
      continue
    }
    const task = job.name.startsWith(`${capsule.name}: `) ? job.name.slice(capsule.name.length + 2) : 'main'
    // The tasks after a failed one are cancelled with it.
    const cancelRequested = capsule.cancelRequested || stopped.has(job.runId) || gone(job.runId)
    checkJob(job, { ends: capsule.ends[task] ?? [], cancelRequested }, findings)
  }
}

function checkRun(run: RunRow, capsule: TrackedCapsule | undefined, jobs: readonly JobRow[], findings: Findings): void {
  const report = (what: string) =>
    findings['wrong run outcomes'].push(`${capsule?.name} ${run.id}: ${run.status}, ${what}`)
  const tasks = readDefinition(run.definition).tasks.map(({ name }) => name)
  const due = run.status === 'refused' ? [] : tasks
  const names = run.tasks.map(({ name }) => name)
  if (run.jobs !== due.length || names.sort().join() !== due.sort().join())
    findings['runs created twice'].push(`${capsule?.name} ${run.id}: ${run.jobs} jobs (${names}) for the tasks ${due}`)
  const ends = run.tasks.map(({ jobId }) => jobs.find(({ id }) => id === jobId)?.status ?? 'gone')
  const all = `with jobs ${ends.join(', ')} (${run.reason})`
  switch (run.status) {
    case 'completed':
      if (ends.some((end) => end !== 'completed')) report(all)
      break
    case 'failed':
      if (!ends.some((end) => end === 'failed' || end === 'dispatch_failed')) report(all)
      break
    case 'cancelled':
      if (!ends.includes('cancelled') || !capsule?.cancelRequested) report(all)
      break
    case 'refused':
      // No team is suspended here, and the budget suffices.
      report(String(run.reason))
      break
    default:
      report(all)
  }
  const judged = run.mode === 'verify' && run.status === 'completed'
  const right = capsule?.changed ? ['different', 'consistent'] : ['exact']
  if (judged !== (run.verdict !== null) || (judged && !right.includes(run.verdict!)))
    report(`verdict ${run.verdict} where ${judged ? right.join(' or ') : 'none'} is right`)
}

const surprises: readonly string[] = alertOutcomes
const outcomeOf = ({ status, verdict }: RunRow): string => (status === 'completed' ? String(verdict) : status)

/** An unexpected verdict is alerted once, and again only after a good run, or if it is a different one. */
function checkAlerts(capsule: TrackedCapsule, runs: readonly RunRow[], dataDir: string, findings: Findings): void {
  const alerts = runs.filter(({ alerted }) => alerted !== null).sort((a, b) => a.alerted! - b.alerted!)
  for (const [at, alert] of alerts.entries()) {
    const before = alerts[at - 1]
    const well = ({ completed, verdict }: RunRow) =>
      ['exact', 'consistent'].includes(verdict ?? '') && completed! > before!.alerted! && completed! < alert.alerted!
    if (before && outcomeOf(before) === outcomeOf(alert) && !runs.some(well))
      findings['alerts sent twice'].push(
        `${capsule.name}: ${before.id} and ${alert.id} both report ${outcomeOf(alert)}`
      )
    const second = runs.find(({ confirms }) => confirms === alert.id)
    if (!surprises.includes(outcomeOf(alert)) || (second && !surprises.includes(outcomeOf(second))))
      findings['alerts sent twice'].push(
        `${capsule.name}: ${alert.id}, ${outcomeOf(alert)}, then ${second && outcomeOf(second)}`
      )
  }
  const confirmed = new Set(runs.flatMap(({ confirms }) => confirms ?? []))
  if (confirmed.size !== runs.filter(({ confirms }) => confirms !== null).length)
    findings['alerts sent twice'].push(`${capsule.name}: a run was confirmed twice`)
  // Its schedule existed until all of its runs were over.
  const found = runs.some(({ trigger, verdict }) => trigger === 'backfill' && verdict === 'different')
  if (capsule.changed && !capsule.responseLost && found && alerts.length === 0)
    findings['missing alerts'].push(`${capsule.name}: no alert that it differs`)
  for (const { id } of alerts)
    if (mailsAbout(dataDir, id) === 0) findings['missing alerts'].push(`${capsule.name}: no email about ${id}`)
  for (const { id } of runs.filter(({ alerted }) => alerted === null))
    if (mailsAbout(dataDir, id) > 0)
      findings['alerts sent twice'].push(`${capsule.name}: an unexpected email about ${id}`)
}

/** An email can exist twice if a worker died while it sent it; both have the same id. */
function mailsAbout(dataDir: string, runId: string): number {
  const folder = join(dataDir, 'mail')
  const files = existsSync(folder) ? readdirSync(folder) : []
  return files.filter((name) => readFileSync(join(folder, name), 'latin1').includes(`<alert-${runId}-`)).length
}

/** Each change has exactly one entry in the trail, and each entry one change. */
async function checkTrail(
  { sql }: Connection,
  tracked: readonly TrackedCapsule[],
  capsules: readonly CapsuleRow[],
  runs: readonly RunRow[],
  findings: Findings
): Promise<void> {
  const rows = await sql<{ capsuleId: string; action: AuditAction; count: number }[]>`
    select capsule_id as "capsuleId", action, count(*)::int as count from audit_entries group by 1, 2`
  const entries = (id: string, action: AuditAction) =>
    rows.find((row) => row.capsuleId === id && row.action === action)?.count ?? 0
  const report = (what: string) => findings['changes without exactly one audit entry'].push(what)
  for (const { id, name, state, capsuleDigest, published } of capsules) {
    const own = runs.filter(({ capsuleId }) => capsuleId === id)
    const due: Partial<Record<AuditAction, number>> = {
      'capsule.sealed': capsuleDigest === null ? 0 : 1,
      'capsule.published': published ? 1 : 0,
      'capsule.archived': state === 'archived' ? 1 : 0,
      'capsule.deleted': 0,
      'capsule.run': own.length,
      'capsule.verified': own.filter(({ verdict }) => verdict !== null).length
    }
    for (const [action, count] of Object.entries(due) as [AuditAction, number][])
      if (entries(id, action) !== count)
        report(`${name} ${id}: ${entries(id, action)} entries ${action}, ${count} changes`)
    const made = (['capsule.created', 'capsule.cloned', 'capsule.imported'] as const).map((one) => entries(id, one))
    if (made.reduce((sum, count) => sum + count) !== 1) report(`${name} ${id}: created ${made.join(' + ')} times`)
  }
  for (const { id, name, changes, responseLost } of tracked)
    for (const [action, count] of Object.entries(changes) as [AuditAction, number][]) {
      const found = entries(id, action)
      // Scheduled and confirming runs have entries too.
      const more = responseLost || action === 'capsule.run'
      if (more ? found < count : found !== count)
        report(`${name} ${id}: ${found} entries ${action}, ${count} confirmed`)
    }
}

async function checkTeams({ sql }: Connection, client: ChaosClient, findings: Findings): Promise<void> {
  const teams = await sql<{ id: string }[]>`select distinct team_id as id from capsules`
  for (const { id } of teams) {
    const response = await retryUntilResponse(client, 'GET', `/api/team/audit/verify?team_id=${id}`)
    if (response.kind === 'lost' || response.body.ok !== true)
      findings['broken audit trails'].push(`team ${id}: ${JSON.stringify(response)}`)
  }
}

/** Checks with only the file, its identity and the key. */
async function checkSeals(
  tracked: readonly TrackedCapsule[],
  capsules: readonly CapsuleRow[],
  client: ChaosClient,
  findings: Findings
): Promise<void> {
  const report = (what: string) => findings['invalid seals'].push(what)
  const response = await retryUntilResponse(client, 'GET', '/api/meta/keys')
  const keys = response.kind === 'response' ? (response.body.keys as { key_id: string; public_key_pem: string }[]) : []
  for (const { id, name, capsuleDigest } of capsules) {
    if (capsuleDigest === null) continue
    const bytes = await client.download(`/api/capsules/${id}/export`)
    const envelope = await client.download(`/api/capsules/${id}/attestation`)
    if (!bytes || !envelope) {
      report(`${name} ${id}: cannot be downloaded`)
      continue
    }
    const digest = createHash('sha256').update(bytes).digest('hex')
    if (tracked.some((capsule) => capsule.id === id && capsule.downloads.some((other) => other !== digest)))
      report(`${name} ${id}: differs from an earlier download`)
    try {
      const keyId = (JSON.parse(envelope.toString()) as { signatures: { keyid: string }[] }).signatures[0]!.keyid
      const verification = verifyPackage(await readPackage(bytes), {
        envelope: envelope.toString(),
        publicKeyPem: keys.find(({ key_id }) => key_id === keyId)?.public_key_pem ?? '',
        expectedId: capsuleDigest
      })
      if (!verification.ok || !verification.authenticated)
        report(`${name} ${id}: ${JSON.stringify(verification.checks)}`)
    } catch (error) {
      report(`${name} ${id}: ${(error as Error).message}`)
    }
  }
}

/** Deadlocks are retried, but none should occur. */
function checkDeadlocks(dataDir: string, findings: Findings): void {
  const log = join(dataDir, 'logs', 'postgres.log')
  const lines = existsSync(log) ? readFileSync(log, 'utf8').split('\n') : []
  findings.deadlocks.push(...lines.filter((line) => line.includes('deadlock detected')))
}

const capsulesOf = ({ sql }: Connection): Promise<CapsuleRow[]> => sql<CapsuleRow[]>`
  select c.id, c.name, c.state, coalesce(j.create_capsule, false) as promised, s.capsule_digest as "capsuleDigest",
    coalesce(array_length(string_to_array(rtrim(s.checksums, E'\n'), E'\n'), 1), 0) as "sealedFiles",
    (select count(*)::int from capsule_files f where f.capsule_id = c.id) as files,
    exists (select 1 from capsule_publications p where p.capsule_id = c.id) as published,
    exists (select 1 from capsule_schedules t where t.capsule_id = c.id) as scheduled
  from capsules c left join capsule_seals s on s.capsule_id = c.id left join jobs j on j.id = c.source_job_id order by c.id`

const runsOf = ({ sql }: Connection): Promise<RunRow[]> => sql<RunRow[]>`
  select r.id, r.capsule_id as "capsuleId", r.mode, r.trigger, r.status, r.reason, r.definition, r.verdict, r.confirms,
    extract(epoch from r.alerted_at)::float8 as alerted, extract(epoch from r.completed_at)::float8 as completed,
    (select coalesce(json_agg(json_build_object('name', t.name, 'jobId', t.job_id) order by position), '[]')
      from capsule_run_tasks t where t.run_id = r.id) as tasks,
    (select count(*)::int from jobs j where j.capsule_run_id = r.id) as jobs
  from capsule_runs r order by r.id`
