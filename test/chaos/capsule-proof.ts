// What has to hold for capsules when the dust has settled: asked of the database, of the audit trail, and of the files that
// anybody can download and check without this service.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readPackage } from '../../capsule-format/package-reader.js'
import { verifyPackage } from '../../capsule-format/package-verification.js'
import type { Connection } from '../../db/client.js'
import type { AuditAction } from '../../domain/audit/audit-action.js'
import { readDefinition } from '../../domain/capsules/capsule-definition.js'
import type { CapsuleRunStatus, CapsuleState } from '../../domain/capsules/capsule-state.js'
import type { ToldCapsule } from './capsule-load.js'
import { type ChaosClient, insist } from './client.js'
import { checkJob, type Findings, type JobLine } from './job-proof.js'

interface RunLine {
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
  /** In the order of their start. */
  tasks: { name: string; jobId: string }[]
  /** That name this run, whatever the run says. */
  jobs: number
}

interface CapsuleLine {
  id: string
  name: string
  state: CapsuleState
  promised: boolean
  capsuleDigest: string | null
  /** That the seal lists, and that there are. */
  sealedFiles: number
  files: number
  published: boolean
  scheduled: boolean
}

export interface CapsuleFacts {
  told: readonly ToldCapsule[]
  jobs: readonly JobLine[]
  /** Of a member of the team that the capsules belong to. */
  client: ChaosClient
  /** Of the stack. */
  dataDir: string
}

/** @param findings gets what broke a promise. */
export async function proveCapsules(connection: Connection, facts: CapsuleFacts, findings: Findings): Promise<void> {
  const { told, jobs, client, dataDir } = facts
  const capsules = await capsulesOf(connection)
  const runs = await runsOf(connection)
  const byId = new Map(told.map((capsule) => [capsule.id, capsule]))
  checkThere(told, capsules, findings)
  checkPromised(jobs, capsules, findings)
  for (const capsule of capsules) checkState(capsule, byId.get(capsule.id)?.unsure ?? false, findings)
  checkJobsOfRuns(jobs, told, runs, findings)
  for (const run of runs) checkRun(run, byId.get(run.capsuleId), jobs, findings)
  for (const capsule of told) {
    const own = runs.filter(({ capsuleId }) => capsuleId === capsule.id)
    const lost = capsule.runIds.filter((id) => !own.some((run) => run.id === id))
    const isThere = capsules.some(({ id }) => id === capsule.id)
    if (isThere && lost.length > 0)
      findings['capsules lost'].push(`${capsule.name}: its runs ${lost.join(', ')} are gone`)
    const asked = own.filter(({ trigger }) => trigger === 'request' || trigger === 'backfill').length
    if (isThere && !capsule.unsure && asked > capsule.runIds.length)
      findings['runs made twice'].push(`${capsule.name}: ${asked} runs for ${capsule.runIds.length} answers`)
    checkAlerts(capsule, own, dataDir, findings)
  }
  await checkTrail(connection, told, capsules, runs, findings)
  await checkTeams(connection, client, findings)
  await checkSeals(told, capsules, client, findings)
  checkDeadlocks(dataDir, findings)
}

function checkThere(told: readonly ToldCapsule[], capsules: readonly CapsuleLine[], findings: Findings): void {
  const there = new Map(capsules.map((capsule) => [capsule.id, capsule]))
  for (const { id, name, changes, digest, unsure } of told) {
    const capsule = there.get(id)
    if (!capsule && !changes['capsule.deleted'] && !unsure) findings['capsules lost'].push(`${name} ${id} is gone`)
    if (capsule && changes['capsule.deleted']) findings['capsules lost'].push(`${name} ${id} was deleted and is there`)
    if (capsule && digest && capsule.capsuleDigest !== digest)
      findings['capsules lost'].push(`${name} ${id} was sealed as ${digest}, and now is ${capsule.capsuleDigest}`)
    const wanted = changes['capsule.published'] ? 'published' : changes['capsule.archived'] ? 'archived' : null
    if (wanted && capsule?.state !== wanted)
      findings['capsules lost'].push(`${name} ${id} was answered as ${wanted} and is ${capsule?.state}`)
  }
  const toldIds = new Set(told.map(({ id }) => id))
  // What a job promised may come after its story has given up waiting.
  const unknown = capsules.filter(({ id, promised }) => !toldIds.has(id) && !promised)
  findings['capsules nobody made'].push(...unknown.map(({ id, name }) => `${name} ${id}`))
}

/** A job that was to become a capsule is exactly one when it has completed, and none otherwise. */
function checkPromised(jobs: readonly JobLine[], capsules: readonly CapsuleLine[], findings: Findings): void {
  for (const { id, name, status, createsCapsule, capsuleId, capsulesOfIt } of jobs) {
    if (!createsCapsule) continue
    const due = status === 'completed' ? 1 : 0
    const named = capsules.some((capsule) => capsule.id === capsuleId)
    if (capsulesOfIt < due) findings['capsules lost'].push(`${name} ${id}: ${status} without its capsule`)
    if (capsulesOfIt > due || (due === 1 && !named))
      findings['capsules nobody made'].push(
        `${name} ${id}: ${status}, with ${capsulesOfIt} capsules, names ${capsuleId}`
      )
  }
}

function checkState(capsule: CapsuleLine, isUnsure: boolean, findings: Findings): void {
  const { state, capsuleDigest, files, sealedFiles, published, scheduled } = capsule
  const isSealed = capsuleDigest !== null
  const wrong = [
    isSealed !== ['sealed', 'published', 'archived'].includes(state) && (isSealed ? 'has a seal' : 'has no seal'),
    // The definition travels as a file, and lies in the row.
    isSealed && files + 1 !== sealedFiles && `has ${files} files beside its definition of ${sealedFiles}`,
    state === 'draft' && files > 0 && `has ${files} files`,
    state === 'runnable' && files === 0 && 'has no files',
    published !== (state === 'published') && (published ? 'is in the catalogue' : 'is not in the catalogue'),
    // Every story ends its schedule.
    scheduled && !isUnsure && 'has a schedule'
  ].filter((what) => what !== false)
  findings['capsules between states'].push(
    ...wrong.map((what) => `${capsule.name} ${capsule.id}: ${state}, and ${what}`)
  )
}

/** Also of runs whose capsule was deleted. */
function checkJobsOfRuns(
  jobs: readonly JobLine[],
  told: readonly ToldCapsule[],
  runs: readonly RunLine[],
  findings: Findings
): void {
  const stopped = new Set(runs.filter(({ status }) => status !== 'completed').map(({ id }) => id))
  const gone = (runId: string) => !runs.some(({ id }) => id === runId)
  for (const job of jobs) {
    if (job.runId === null) continue
    const capsule = told.find(({ id }) => id === job.capsuleId)
    if (!capsule) {
      findings['capsules nobody made'].push(`${job.name} ${job.id} is of a run of ${job.capsuleId}`)
      continue
    }
    const task = job.name.startsWith(`${capsule.name}: `) ? job.name.slice(capsule.name.length + 2) : 'main'
    // What comes after a task that has failed is cancelled with it.
    const cancelAsked = capsule.cancelAsked || stopped.has(job.runId) || gone(job.runId)
    checkJob(job, { ends: capsule.ends[task] ?? [], cancelAsked }, findings)
  }
}

function checkRun(run: RunLine, capsule: ToldCapsule | undefined, jobs: readonly JobLine[], findings: Findings): void {
  const say = (what: string) =>
    findings['runs that end wrongly'].push(`${capsule?.name} ${run.id}: ${run.status}, ${what}`)
  const tasks = readDefinition(run.definition).tasks.map(({ name }) => name)
  const due = run.status === 'refused' ? [] : tasks
  const names = run.tasks.map(({ name }) => name)
  if (run.jobs !== due.length || names.sort().join() !== due.sort().join())
    findings['runs made twice'].push(`${capsule?.name} ${run.id}: ${run.jobs} jobs (${names}) for the tasks ${due}`)
  const ends = run.tasks.map(({ jobId }) => jobs.find(({ id }) => id === jobId)?.status ?? 'gone')
  const all = `with jobs ${ends.join(', ')} (${run.reason})`
  switch (run.status) {
    case 'completed':
      if (ends.some((end) => end !== 'completed')) say(all)
      break
    case 'failed':
      if (!ends.some((end) => end === 'failed' || end === 'dispatch_failed')) say(all)
      break
    case 'cancelled':
      if (!ends.includes('cancelled') || !capsule?.cancelAsked) say(all)
      break
    case 'refused':
      // Nothing is suspended here, and there is money for everything.
      say(String(run.reason))
      break
    default:
      say(all)
  }
  const judged = run.mode === 'verify' && run.status === 'completed'
  const right = capsule?.changed ? ['different', 'consistent'] : ['exact']
  if (judged !== (run.verdict !== null) || (judged && !right.includes(run.verdict!)))
    say(`verdict ${run.verdict} where ${judged ? right.join(' or ') : 'none'} is right`)
}

const surprises = ['different', 'drifted', 'failed']
const outcomeOf = ({ status, verdict }: RunLine): string => (status === 'completed' ? String(verdict) : status)

/** A surprise is told once, and again only after something came out well, or when it is another one. */
function checkAlerts(capsule: ToldCapsule, runs: readonly RunLine[], dataDir: string, findings: Findings): void {
  const alerts = runs.filter(({ alerted }) => alerted !== null).sort((a, b) => a.alerted! - b.alerted!)
  for (const [at, alert] of alerts.entries()) {
    const before = alerts[at - 1]
    const well = ({ completed, verdict }: RunLine) =>
      ['exact', 'consistent'].includes(verdict ?? '') && completed! > before!.alerted! && completed! < alert.alerted!
    if (before && outcomeOf(before) === outcomeOf(alert) && !runs.some(well))
      findings['alerts told twice'].push(`${capsule.name}: ${before.id} and ${alert.id} tell of ${outcomeOf(alert)}`)
    const second = runs.find(({ confirms }) => confirms === alert.id)
    if (!surprises.includes(outcomeOf(alert)) || (second && !surprises.includes(outcomeOf(second))))
      findings['alerts told twice'].push(
        `${capsule.name}: ${alert.id}, ${outcomeOf(alert)}, then ${second && outcomeOf(second)}`
      )
  }
  const confirmed = new Set(runs.flatMap(({ confirms }) => confirms ?? []))
  if (confirmed.size !== runs.filter(({ confirms }) => confirms !== null).length)
    findings['alerts told twice'].push(`${capsule.name}: a run was confirmed twice`)
  // Its schedule was there until all of its runs had ended.
  const found = runs.some(({ trigger, verdict }) => trigger === 'backfill' && verdict === 'different')
  if (capsule.changed && !capsule.unsure && found && alerts.length === 0)
    findings['alerts forgotten'].push(`${capsule.name}: nobody was told that it differs`)
  for (const { id } of alerts)
    if (mailsAbout(dataDir, id) === 0) findings['alerts forgotten'].push(`${capsule.name}: no mail tells of ${id}`)
  for (const { id } of runs.filter(({ alerted }) => alerted === null))
    if (mailsAbout(dataDir, id) > 0) findings['alerts told twice'].push(`${capsule.name}: a mail tells of ${id}`)
}

/** A mail may be there twice when a worker died as it sent it; both have one id. */
function mailsAbout(dataDir: string, runId: string): number {
  const folder = join(dataDir, 'mail')
  const files = existsSync(folder) ? readdirSync(folder) : []
  return files.filter((name) => readFileSync(join(folder, name), 'latin1').includes(`<alert-${runId}-`)).length
}

/** Each change has one entry in the trail, and each entry a change. */
async function checkTrail(
  { sql }: Connection,
  told: readonly ToldCapsule[],
  capsules: readonly CapsuleLine[],
  runs: readonly RunLine[],
  findings: Findings
): Promise<void> {
  const rows = await sql<{ capsuleId: string; action: AuditAction; count: number }[]>`
    select capsule_id as "capsuleId", action, count(*)::int as count from audit_entries group by 1, 2`
  const entries = (id: string, action: AuditAction) =>
    rows.find((row) => row.capsuleId === id && row.action === action)?.count ?? 0
  const say = (what: string) => findings['changes without one entry'].push(what)
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
        say(`${name} ${id}: ${entries(id, action)} entries ${action}, ${count} changes`)
    const made = (['capsule.created', 'capsule.cloned', 'capsule.imported'] as const).map((one) => entries(id, one))
    if (made.reduce((sum, count) => sum + count) !== 1) say(`${name} ${id}: made ${made.join(' + ')} times`)
  }
  for (const { id, name, changes, unsure } of told)
    for (const [action, count] of Object.entries(changes) as [AuditAction, number][]) {
      const found = entries(id, action)
      // Runs that no request made have entries, too.
      const more = unsure || action === 'capsule.run'
      if (more ? found < count : found !== count)
        say(`${name} ${id}: ${found} entries ${action}, ${count} were answered`)
    }
}

async function checkTeams({ sql }: Connection, client: ChaosClient, findings: Findings): Promise<void> {
  const teams = await sql<{ id: string }[]>`select distinct team_id as id from capsules`
  for (const { id } of teams) {
    const answer = await insist(client, 'GET', `/api/team/audit/verify?team_id=${id}`)
    if (answer.kind === 'lost' || answer.body.ok !== true)
      findings['audit trails broken'].push(`team ${id}: ${JSON.stringify(answer)}`)
  }
}

/** As somebody does who has the file, its identity and the key, and nothing else. */
async function checkSeals(
  told: readonly ToldCapsule[],
  capsules: readonly CapsuleLine[],
  client: ChaosClient,
  findings: Findings
): Promise<void> {
  const say = (what: string) => findings['seals that do not hold'].push(what)
  const answer = await insist(client, 'GET', '/api/meta/keys')
  const keys = answer.kind === 'answer' ? (answer.body.keys as { key_id: string; public_key_pem: string }[]) : []
  for (const { id, name, capsuleDigest } of capsules) {
    if (capsuleDigest === null) continue
    const bytes = await client.download(`/api/capsules/${id}/export`)
    const envelope = await client.download(`/api/capsules/${id}/attestation`)
    if (!bytes || !envelope) {
      say(`${name} ${id}: cannot be downloaded`)
      continue
    }
    const digest = createHash('sha256').update(bytes).digest('hex')
    if (told.some((capsule) => capsule.id === id && capsule.downloads.some((other) => other !== digest)))
      say(`${name} ${id}: was another file when it was downloaded before`)
    try {
      const keyId = (JSON.parse(envelope.toString()) as { signatures: { keyid: string }[] }).signatures[0]!.keyid
      const report = verifyPackage(await readPackage(bytes), {
        envelope: envelope.toString(),
        publicKeyPem: keys.find(({ key_id }) => key_id === keyId)?.public_key_pem ?? '',
        expectedId: capsuleDigest
      })
      if (!report.ok || !report.authenticated) say(`${name} ${id}: ${JSON.stringify(report.checks)}`)
    } catch (error) {
      say(`${name} ${id}: ${(error as Error).message}`)
    }
  }
}

/** Each is mended by trying again; none has to be. */
function checkDeadlocks(dataDir: string, findings: Findings): void {
  const log = join(dataDir, 'logs', 'postgres.log')
  const lines = existsSync(log) ? readFileSync(log, 'utf8').split('\n') : []
  findings.deadlocks.push(...lines.filter((line) => line.includes('deadlock detected')))
}

const capsulesOf = ({ sql }: Connection): Promise<CapsuleLine[]> => sql<CapsuleLine[]>`
  select c.id, c.name, c.state, coalesce(j.create_capsule, false) as promised, s.capsule_digest as "capsuleDigest",
    coalesce(array_length(string_to_array(rtrim(s.checksums, E'\n'), E'\n'), 1), 0) as "sealedFiles",
    (select count(*)::int from capsule_files f where f.capsule_id = c.id) as files,
    exists (select 1 from capsule_publications p where p.capsule_id = c.id) as published,
    exists (select 1 from capsule_schedules t where t.capsule_id = c.id) as scheduled
  from capsules c left join capsule_seals s on s.capsule_id = c.id left join jobs j on j.id = c.source_job_id order by c.id`

const runsOf = ({ sql }: Connection): Promise<RunLine[]> => sql<RunLine[]>`
  select r.id, r.capsule_id as "capsuleId", r.mode, r.trigger, r.status, r.reason, r.definition, r.verdict, r.confirms,
    extract(epoch from r.alerted_at)::float8 as alerted, extract(epoch from r.completed_at)::float8 as completed,
    (select coalesce(json_agg(json_build_object('name', t.name, 'jobId', t.job_id) order by position), '[]')
      from capsule_run_tasks t where t.run_id = r.id) as tasks,
    (select count(*)::int from jobs j where j.capsule_run_id = r.id) as jobs
  from capsule_runs r order by r.id`
