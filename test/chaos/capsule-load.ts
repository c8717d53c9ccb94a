// The capsules of the load. Each has a scenario, from a job or a workflow to its seal, runs, schedule and deletion, with two
// concurrent callers where only one can win. Every change is retried with its Idempotency-Key until there is a response.
import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { AuditAction } from '../../domain/audit/audit-action.js'
import { isFinal, type JobStatus } from '../../domain/jobs/job-status.js'
import { type Ends, planChange, planSuite } from './capsule-plan.js'
import { type Chance, createChance } from './chance.js'
import { type ApiResponse, type ChaosClient, type Method, retryUntilResponse } from './client.js'
import { type LoadResult, submissionOf, submit } from './load.js'
import { circuit, type End, SHOTS, simulator } from './plan.js'

/** The time limit of a job or a run, including the kills and the recovery. */
const TIME_LIMIT_MS = 15 * 60_000
const POLL_MS = 500
/** More than a capsule of the load has. */
const RUNS_MAX = 100
/** The time from the submission until the program of a job returns a different result. */
const CHANGE_AFTER_MS = 6_000
/** How often a scenario starts over if its job failed because of a kill. */
const ATTEMPTS = 4

/** What the callers know about one capsule from responses. */
export interface TrackedCapsule {
  id: string
  /** Begins with the name of the load; the jobs of its runs include it. */
  name: string
  ends: Ends
  /** Its program now returns a different result, which a verification detects. */
  changed: boolean
  /** The number of confirmed changes, by their name in the audit trail. */
  changes: Partial<Record<AuditAction, number>>
  /** A request never got its response, so there can be more changes and runs than confirmed ones. */
  responseLost: boolean
  runIds: string[]
  cancelRequested: boolean
  /** `mqc:1:...`, from the response to the seal. */
  digest: string | null
  /** SHA-256 of each download after the seal. */
  downloads: string[]
}

export interface CapsuleLoadOptions {
  client: ChaosClient
  chance: Chance
  /** The prefix of the name of every job and capsule. */
  name: string
  perSecond: number
  /** The address of a member of the team, for alerts. */
  alertTo: string
  /** On abort, no scenario starts, and those in progress finish soon. */
  signal: AbortSignal
}

interface Scenario extends CapsuleLoadOptions {
  load: LoadResult
  tracked: TrackedCapsule[]
  /** The number of its requests, used in their keys. */
  requests: number
  /** It is completed even after the abort. */
  mustFinish: boolean
}

/** Whether the scenario must not start anything more. */
const isLate = ({ mustFinish, signal }: Scenario): boolean => signal.aborted && !mustFinish

const scenarios = [equalRunsScenario, changedResultScenario, suiteScenario, failingSuiteScenario]

/** Resolves when every scenario is finished. @param load collects the submitted jobs and the unexpected responses. */
export async function runCapsules(options: CapsuleLoadOptions, load: LoadResult): Promise<TrackedCapsule[]> {
  const { chance, signal, name, perSecond } = options
  const tracked: TrackedCapsule[] = []
  const inProgress = new Set<Promise<void>>()
  let begun = 0
  const begin = (play: (scenario: Scenario) => Promise<void>, mustFinish: boolean) => {
    const own = { chance: createChance(Math.floor(chance.next() * 2 ** 32)), name: `${name}-capsule-${begun++}` }
    const scenario = play({ ...options, ...own, load, tracked, requests: 0, mustFinish }).finally(() =>
      inProgress.delete(scenario)
    )
    inProgress.add(scenario)
  }
  // Each scenario runs at least once.
  for (const play of scenarios) begin(play, true)
  while (!signal.aborted) {
    await delay(Math.min((-Math.log(1 - chance.next()) * 1000) / perSecond, 20_000), undefined, { signal }).catch(
      () => {}
    )
    if (!signal.aborted) begin(chance.pick(scenarios), false)
  }
  await Promise.all(inProgress)
  return tracked
}

/** A job with equal results in every run: packaged, sealed, verified, perhaps on a schedule, published or archived. */
async function equalRunsScenario(scenario: Scenario): Promise<void> {
  const { chance, signal } = scenario
  const { body, end } = circuit(chance)
  const params = { shots: SHOTS, seed: Math.floor(chance.between(0, 1000)) }
  let capsule: TrackedCapsule | null = null
  for (let attempt = 0; attempt < ATTEMPTS && !capsule && !isLate(scenario); attempt++)
    capsule = await createFromJob(
      { ...scenario, name: `${scenario.name}-${attempt}` },
      { ...body, params },
      [end],
      chance.holds(0.5)
    )
  if (!capsule) return
  await sealConcurrently(scenario, capsule)
  await download(scenario, capsule)
  if (!isLate(scenario)) await Promise.all([run(scenario, capsule, 'verify'), run(scenario, capsule, 'verify')])
  if (!signal.aborted && chance.holds(0.6)) {
    await schedule(scenario, capsule, false)
    await delay(chance.between(5_000, 130_000), undefined, { signal }).catch(() => {})
    if (chance.holds(0.5)) await unschedule(scenario, capsule)
  }
  await untilRunsAreOver(scenario, capsule)
  await publishAndArchive(scenario, capsule)
  await unschedule(scenario, capsule)
  await download(scenario, capsule)
}

/** A job whose result changes at some time: its verifications detect it, one confirms it, and one alert is sent. */
async function changedResultScenario(scenario: Scenario): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS && !isLate(scenario); attempt++) {
    const changesAt = new Date(Date.now() + CHANGE_AFTER_MS)
    const { body, before, after } = planChange(changesAt)
    const again = { ...scenario, name: `${scenario.name}-${attempt}` }
    const found: End[] = []
    const capsule = await createFromJob(again, body, [before, after], scenario.chance.holds(0.5), found)
    if (!capsule || JSON.stringify(found[0]) !== JSON.stringify(before)) continue
    capsule.changed = true
    await sealConcurrently(again, capsule)
    if (isLate(scenario)) return
    await delay(Math.max(0, changesAt.getTime() - Date.now()))
    await schedule(again, capsule, true)
    // Many runs at once must cause one alert.
    await backfill(again, capsule)
    await run(again, capsule, 'verify')
    await untilRunsAreOver(again, capsule)
    await unschedule(again, capsule)
    await download(again, capsule)
    return
  }
}

/** A draft of several tasks: run, perhaps cancelled, changed while it is sealed, cloned, exported and imported, deleted. */
async function suiteScenario(scenario: Scenario): Promise<void> {
  const { chance, signal, name } = scenario
  const { workflow, ends } = planSuite(chance, false)
  const capsule = await createCapsule(scenario, ends, 'capsule.created', '/api/capsules/create', { name, workflow })
  if (!capsule) return
  const runId = await run(scenario, capsule, 'template')
  if (runId && chance.holds(0.3)) await cancelOne(scenario, capsule, runId)
  await untilRunsAreOver(scenario, capsule)
  for (
    let attempt = 0;
    attempt < ATTEMPTS && !isLate(scenario) && !(await hasCompleted(scenario, capsule));
    attempt++
  ) {
    await run(scenario, capsule, 'template')
    await untilRunsAreOver(scenario, capsule)
  }
  if (!(await hasCompleted(scenario, capsule))) return
  await sealConcurrently(scenario, capsule, true)
  const bytes = await download(scenario, capsule)
  if (!signal.aborted)
    await copyScenario(
      scenario,
      await createCapsule(scenario, ends, 'capsule.cloned', `/api/capsules/${capsule.id}/clone`, { name })
    )
  if (bytes && !signal.aborted)
    await copyScenario(scenario, await createCapsule(scenario, ends, 'capsule.imported', '/api/capsules/import', bytes))
  await publishAndArchive(scenario, capsule)
  await download(scenario, capsule)
}

/** A suite whose third task fails: it cannot be sealed, and is perhaps deleted. */
async function failingSuiteScenario(scenario: Scenario): Promise<void> {
  const { workflow, ends } = planSuite(scenario.chance, true)
  const body = { name: scenario.name, workflow }
  const capsule = await createCapsule(scenario, ends, 'capsule.created', '/api/capsules/create', body)
  if (!capsule) return
  await run(scenario, capsule, 'template')
  await untilRunsAreOver(scenario, capsule)
  await write(scenario, capsule, 'capsule.sealed', 'POST', '/seal', { exit_code: 0 }, [400])
  if (scenario.chance.holds(0.5)) await write(scenario, capsule, 'capsule.deleted', 'DELETE', '', undefined, [])
}

/** A copy that is run and deleted at the same time, and deleted for certain when the run is over. */
async function copyScenario(scenario: Scenario, capsule: TrackedCapsule | null): Promise<void> {
  if (!capsule) return
  const remove = () => write(scenario, capsule, 'capsule.deleted', 'DELETE', '', undefined, [404, 409])
  await Promise.all([run(scenario, capsule, 'template', [404]), remove()])
  await untilRunsAreOver(scenario, capsule)
  await remove()
}

/** Submits a job, waits until it has finished and makes a capsule from it. @param found collects its counts. */
async function createFromJob(
  scenario: Scenario,
  body: Record<string, unknown>,
  ends: readonly End[],
  promised: boolean,
  found: End[] = []
): Promise<TrackedCapsule | null> {
  const { chance, client, load, name } = scenario
  const mode = chance.pick(['direct', 'temporal'] as const)
  const common = { name, backend: simulator.slug, params: { shots: SHOTS }, execution_mode: mode }
  const kept = `${name}-kept`
  const submission = submissionOf(
    {
      name,
      mode,
      body: { ...common, ...body, ...(promised && { create_capsule: true, capsule_name: kept }) },
      ends,
      cancelAfterMs: null,
      key: `chaos ${name}`
    },
    client
  )
  await submit(submission, load)
  const [jobId] = submission.ids
  const job = jobId ? await untilJobIsFinal(scenario, jobId) : null
  if (job?.status !== 'completed') return null
  found.push((job.result as { counts: Record<string, number> }).counts)
  const tasks = { main: ends }
  if (!promised)
    return createCapsule(scenario, tasks, 'capsule.created', '/api/capsules/from-job', { job_id: jobId, name: kept })
  if (typeof job.capsule_id === 'string') return trackCapsule(scenario, job.capsule_id, kept, tasks, 'capsule.created')
  load.unexpectedResponses.push(`the job ${jobId} has no capsule: ${String(job.status_reason)}`)
  return null
}

/** Sends a request that creates a capsule. */
async function createCapsule(
  scenario: Scenario,
  ends: Ends,
  action: AuditAction,
  path: string,
  body: Record<string, unknown> | Buffer
): Promise<TrackedCapsule | null> {
  const response = await retryUntilResponse(scenario.client, 'POST', path, body, keyOf(scenario))
  if (response.kind === 'lost') {
    scenario.load.unexpectedResponses.push(`POST ${path} of ${scenario.name}: never answered: ${response.why}`)
    return null
  }
  if (response.status !== 201) return unexpected(scenario, `POST ${path}`, response)
  const name = Buffer.isBuffer(body) ? scenario.name : String((body as { name?: unknown }).name)
  return trackCapsule(scenario, String(response.body.capsule_id), name, ends, action)
}

function trackCapsule(scenario: Scenario, id: string, name: string, ends: Ends, action: AuditAction): TrackedCapsule {
  const nothingYet = {
    changed: false,
    responseLost: false,
    runIds: [],
    cancelRequested: false,
    digest: null,
    downloads: []
  }
  const capsule: TrackedCapsule = { id, name, ends, changes: { [action]: 1 }, ...nothingYet }
  scenario.tracked.push(capsule)
  return capsule
}

/** Changes a capsule. @returns the response, or `null` if the change was refused with one of `refusals` or had no response. */
async function write(
  scenario: Scenario,
  capsule: TrackedCapsule,
  action: AuditAction,
  method: Method,
  path: string,
  body: unknown,
  refusals: readonly number[]
): Promise<Record<string, unknown> | null> {
  const at = `/api/capsules/${capsule.id}${path}`
  const response = await retryUntilResponse(scenario.client, method, at, body, keyOf(scenario))
  if (response.kind === 'lost') {
    capsule.responseLost = true
    return null
  }
  if (response.status < 300) {
    capsule.changes[action] = (capsule.changes[action] ?? 0) + 1
    return response.body
  }
  return refusals.includes(response.status) ? null : unexpected(scenario, `${method} ${at}`, response)
}

/** Two seals at the same time, and perhaps a change: exactly one seal succeeds. */
async function sealConcurrently(scenario: Scenario, capsule: TrackedCapsule, changing = false): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS && capsule.digest === null; attempt++) {
    const seal = () => write(scenario, capsule, 'capsule.sealed', 'POST', '/seal', { exit_code: 0 }, [403, 409])
    const change = () =>
      write(scenario, capsule, 'capsule.updated', 'PATCH', '', { description: `attempt ${attempt}` }, [403])
    const sealed = await Promise.all([seal(), seal(), ...(changing ? [change()] : [])])
    for (const record of sealed) {
      const digest = (record?.seal as { capsule_digest?: string } | null | undefined)?.capsule_digest
      if (digest) capsule.digest = digest
    }
    if (capsule.responseLost) return
  }
}

/** Publishes and archives at the same time: exactly one succeeds. */
const publishAndArchive = async (scenario: Scenario, capsule: TrackedCapsule): Promise<void> => {
  const text = { title: capsule.name, description: 'in a chaos run' }
  await Promise.all([
    write(scenario, capsule, 'capsule.published', 'POST', '/publish', text, [403]),
    write(scenario, capsule, 'capsule.archived', 'POST', '/archive', undefined, [403])
  ])
}

async function run(
  scenario: Scenario,
  capsule: TrackedCapsule,
  mode: 'verify' | 'template',
  refusals: readonly number[] = []
): Promise<string | null> {
  const response = await write(scenario, capsule, 'capsule.run', 'POST', '/run', { mode }, refusals)
  if (!response) return null
  capsule.runIds.push(String(response.capsule_run_id))
  return String(response.capsule_run_id)
}

async function schedule(scenario: Scenario, capsule: TrackedCapsule, paused: boolean): Promise<void> {
  const body = { cron: '* * * * *', paused, alert: { emails: [scenario.alertTo] } }
  await write(scenario, capsule, 'capsule.schedule.changed', 'PUT', '/schedule', body, [])
}

const unschedule = (scenario: Scenario, capsule: TrackedCapsule) =>
  write(scenario, capsule, 'capsule.schedule.deleted', 'DELETE', '/schedule', undefined, [403, 404])

async function backfill(scenario: Scenario, capsule: TrackedCapsule): Promise<void> {
  const to = new Date()
  const range = { from: new Date(to.getTime() - 150_000).toISOString(), to: to.toISOString() }
  const at = `/api/capsules/${capsule.id}/schedule/backfill`
  const response = await retryUntilResponse(scenario.client, 'POST', at, range, keyOf(scenario))
  if (response.kind === 'lost') capsule.responseLost = true
  else if (response.status !== 201) unexpected(scenario, `POST ${at}`, response)
  else
    for (const { capsule_run_id: id } of response.body.runs as { capsule_run_id: string }[]) {
      capsule.runIds.push(id)
      capsule.changes['capsule.run'] = (capsule.changes['capsule.run'] ?? 0) + 1
    }
}

async function cancelOne(scenario: Scenario, capsule: TrackedCapsule, runId: string): Promise<void> {
  await delay(scenario.chance.between(0, 2_000))
  const response = await retryUntilResponse(scenario.client, 'GET', `/api/capsules/${capsule.id}/runs/${runId}`)
  if (response.kind === 'lost') return
  const jobId = scenario.chance.pick(response.body.job_ids as string[])
  capsule.cancelRequested = true
  const { kind, status } = {
    status: 0,
    ...(await retryUntilResponse(scenario.client, 'POST', `/api/jobs/${jobId}/cancel`))
  }
  // 409: it has finished already.
  if (kind === 'response' && status !== 202 && status !== 409)
    scenario.load.unexpectedResponses.push(`cancelling ${jobId}: ${status}`)
}

/** The number of runs in progress; `null` without a response. */
/** Of one answer: between two, the end of a run can create another one, which confirms it. */
async function openRuns({ client }: Scenario, { id }: TrackedCapsule): Promise<number | null> {
  const response = await client.call('GET', `/api/capsules/${id}/runs?limit=${RUNS_MAX}`)
  if (response.kind === 'lost') return null
  // 404: the capsule was deleted.
  if (response.status === 404) return 0
  const runs = response.body.runs as { status: string }[]
  return runs.filter(({ status }) => ['pending', 'running', 'judging'].includes(status)).length
}

async function untilRunsAreOver(scenario: Scenario, capsule: TrackedCapsule): Promise<void> {
  const deadline = performance.now() + TIME_LIMIT_MS
  while (performance.now() < deadline && (await openRuns(scenario, capsule)) !== 0) await delay(POLL_MS)
}

async function hasCompleted({ client }: Scenario, { id }: TrackedCapsule): Promise<boolean> {
  const response = await retryUntilResponse(client, 'GET', `/api/capsules/${id}/runs?status=completed&limit=1`)
  return response.kind === 'response' && Number(response.body.total) > 0
}

async function untilJobIsFinal({ client }: Scenario, jobId: string): Promise<Record<string, unknown> | null> {
  const deadline = performance.now() + TIME_LIMIT_MS
  while (performance.now() < deadline) {
    const response = await client.call('GET', `/api/jobs/${jobId}`)
    if (response.kind === 'response' && isFinal(response.body.status as JobStatus)) return response.body
    await delay(POLL_MS)
  }
  return null
}

/** Downloads a capsule and records the digest if it is sealed. */
async function download({ client }: Scenario, capsule: TrackedCapsule): Promise<Buffer | null> {
  const bytes = await client.download(`/api/capsules/${capsule.id}/export`)
  if (bytes && capsule.digest !== null) capsule.downloads.push(createHash('sha256').update(bytes).digest('hex'))
  return bytes
}

const keyOf = (scenario: Scenario): string => `chaos ${scenario.name} ${++scenario.requests}`

function unexpected({ load }: Scenario, what: string, response: Extract<ApiResponse, { kind: 'response' }>): null {
  load.unexpectedResponses.push(`${what}: ${response.status} ${JSON.stringify(response.body)}`)
  return null
}
