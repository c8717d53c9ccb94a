// The capsules of the load: each is a story of its own, from a job or a workflow to its seal, its runs, its schedule and its
// end, with two callers at once where only one may win. Every change is sent under a key until it is answered.
import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { AuditAction } from '../../domain/audit/audit-action.js'
import { isFinal, type JobStatus } from '../../domain/jobs/job-status.js'
import { type Ends, planChange, planSuite } from './capsule-plan.js'
import { type Chance, createChance } from './chance.js'
import { type Answer, type ChaosClient, insist, type Method } from './client.js'
import { type LoadResult, submissionOf, submit } from './load.js'
import { circuit, type End, SHOTS, simulator } from './plan.js'

/** For a job or a run to end, the storm and what comes after it included. */
const PATIENCE_MS = 15 * 60_000
const LOOK_MS = 500
/** From the submission to the moment at which the program of a job gives something else. */
const CHANGE_AFTER_MS = 6_000
/** How often a story begins anew when its job did not go as it has to. */
const ATTEMPTS = 4

/** What the callers were told of one capsule. */
export interface ToldCapsule {
  id: string
  /** Begins with that of the load; the jobs of its runs have it, too. */
  name: string
  ends: Ends
  /** Its program gives something else than it did, so that a verification finds a difference. */
  changed: boolean
  /** Changes that were answered, by the name that the audit trail has for them. */
  changes: Partial<Record<AuditAction, number>>
  /** A request never had its answer: there may be more changes, and more runs, than were answered. */
  unsure: boolean
  runIds: string[]
  cancelAsked: boolean
  /** `mqc:1:...`, as the answer to the seal named it. */
  digest: string | null
  /** SHA-256 of each download since the seal. */
  downloads: string[]
}

export interface CapsuleLoadOptions {
  client: ChaosClient
  chance: Chance
  /** Begins the name of every job and capsule. */
  name: string
  perSecond: number
  /** An address of a member of the team, for alerts. */
  alertTo: string
  /** Aborted: no story begins, and those under way come to their ends soon. */
  signal: AbortSignal
}

interface Story extends CapsuleLoadOptions {
  load: LoadResult
  told: ToldCapsule[]
  /** Numbers its requests. */
  requests: number
  /** It is told to its end, however late. */
  whole: boolean
}

/** Nothing more is begun in it. */
const isLate = ({ whole, signal }: Story): boolean => signal.aborted && !whole

const stories = [ofJob, ofChange, ofSuite, ofBrokenSuite]

/** Resolves when every story is over. @param load gets the submissions of jobs, and answers that no caller should get. */
export async function runCapsules(options: CapsuleLoadOptions, load: LoadResult): Promise<ToldCapsule[]> {
  const { chance, signal, name, perSecond } = options
  const told: ToldCapsule[] = []
  const under = new Set<Promise<void>>()
  let begun = 0
  const begin = (tell: (story: Story) => Promise<void>, whole: boolean) => {
    const own = { chance: createChance(Math.floor(chance.next() * 2 ** 32)), name: `${name}-capsule-${begun++}` }
    const story = tell({ ...options, ...own, load, told, requests: 0, whole }).finally(() => under.delete(story))
    under.add(story)
  }
  // Whatever chance brings: each goes through.
  for (const tell of stories) begin(tell, true)
  while (!signal.aborted) {
    await delay(Math.min((-Math.log(1 - chance.next()) * 1000) / perSecond, 20_000), undefined, { signal }).catch(
      () => {}
    )
    if (!signal.aborted) begin(chance.pick(stories), false)
  }
  await Promise.all(under)
  return told
}

/** A job whose runs are all the same: kept, sealed, verified, perhaps on a schedule, published or archived. */
async function ofJob(story: Story): Promise<void> {
  const { chance, signal } = story
  const { body, end } = circuit(chance)
  const params = { shots: SHOTS, seed: Math.floor(chance.between(0, 1000)) }
  let capsule: ToldCapsule | null = null
  for (let attempt = 0; attempt < ATTEMPTS && !capsule && !isLate(story); attempt++)
    capsule = await capsuleOfJob(
      { ...story, name: `${story.name}-${attempt}` },
      { ...body, params },
      [end],
      chance.holds(0.5)
    )
  if (!capsule) return
  await sealTwice(story, capsule)
  await download(story, capsule)
  if (!isLate(story)) await Promise.all([run(story, capsule, 'verify'), run(story, capsule, 'verify')])
  if (!signal.aborted && chance.holds(0.6)) {
    await schedule(story, capsule, false)
    await delay(chance.between(5_000, 130_000), undefined, { signal }).catch(() => {})
    if (chance.holds(0.5)) await unschedule(story, capsule)
  }
  await runsOver(story, capsule)
  await endTwice(story, capsule)
  await unschedule(story, capsule)
  await download(story, capsule)
}

/** A job that gives something else from a moment on: its verifications find that, one confirms it, and one mail tells it. */
async function ofChange(story: Story): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS && !isLate(story); attempt++) {
    const changesAt = new Date(Date.now() + CHANGE_AFTER_MS)
    const { body, before, after } = planChange(changesAt)
    const again = { ...story, name: `${story.name}-${attempt}` }
    const found: End[] = []
    const capsule = await capsuleOfJob(again, body, [before, after], story.chance.holds(0.5), found)
    if (!capsule || JSON.stringify(found[0]) !== JSON.stringify(before)) continue
    capsule.changed = true
    await sealTwice(again, capsule)
    if (isLate(story)) return
    await delay(Math.max(0, changesAt.getTime() - Date.now()))
    await schedule(again, capsule, true)
    // All at once; what comes of it is one alert.
    await backfill(again, capsule)
    await run(again, capsule, 'verify')
    await runsOver(again, capsule)
    await unschedule(again, capsule)
    await download(again, capsule)
    return
  }
}

/** A draft of several tasks: run, perhaps cancelled, changed while it is sealed, cloned, taken in again, deleted. */
async function ofSuite(story: Story): Promise<void> {
  const { chance, signal, name } = story
  const { workflow, ends } = planSuite(chance, false)
  const capsule = await made(story, ends, 'capsule.created', '/api/capsules/create', { name, workflow })
  if (!capsule) return
  const runId = await run(story, capsule, 'template')
  if (runId && chance.holds(0.3)) await cancelOne(story, capsule, runId)
  await runsOver(story, capsule)
  for (let attempt = 0; attempt < ATTEMPTS && !isLate(story) && !(await hasCompleted(story, capsule)); attempt++) {
    await run(story, capsule, 'template')
    await runsOver(story, capsule)
  }
  if (!(await hasCompleted(story, capsule))) return
  await sealTwice(story, capsule, true)
  const bytes = await download(story, capsule)
  if (!signal.aborted)
    await ofCopy(story, await made(story, ends, 'capsule.cloned', `/api/capsules/${capsule.id}/clone`, { name }))
  if (bytes && !signal.aborted)
    await ofCopy(story, await made(story, ends, 'capsule.imported', '/api/capsules/import', bytes))
  await endTwice(story, capsule)
  await download(story, capsule)
}

/** A suite whose third task fails: nothing seals it, and it may go. */
async function ofBrokenSuite(story: Story): Promise<void> {
  const { workflow, ends } = planSuite(story.chance, true)
  const body = { name: story.name, workflow }
  const capsule = await made(story, ends, 'capsule.created', '/api/capsules/create', body)
  if (!capsule) return
  await run(story, capsule, 'template')
  await runsOver(story, capsule)
  await write(story, capsule, 'capsule.sealed', 'POST', '/seal', { exit_code: 0 }, [400])
  if (story.chance.holds(0.5)) await write(story, capsule, 'capsule.deleted', 'DELETE', '', undefined, [])
}

/** A copy that is run and deleted at once, and deleted for good when the run is over. */
async function ofCopy(story: Story, capsule: ToldCapsule | null): Promise<void> {
  if (!capsule) return
  const remove = () => write(story, capsule, 'capsule.deleted', 'DELETE', '', undefined, [404, 409])
  await Promise.all([run(story, capsule, 'template', [404]), remove()])
  await runsOver(story, capsule)
  await remove()
}

/** Submits a job, waits for its end and keeps it. @param found gets what it has left. */
async function capsuleOfJob(
  story: Story,
  body: Record<string, unknown>,
  ends: readonly End[],
  promised: boolean,
  found: End[] = []
): Promise<ToldCapsule | null> {
  const { chance, client, load, name } = story
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
  const job = jobId ? await jobOver(story, jobId) : null
  if (job?.status !== 'completed') return null
  found.push((job.result as { counts: Record<string, number> }).counts)
  const tasks = { main: ends }
  if (!promised) return made(story, tasks, 'capsule.created', '/api/capsules/from-job', { job_id: jobId, name: kept })
  if (typeof job.capsule_id === 'string') return tellOf(story, job.capsule_id, kept, tasks, 'capsule.created')
  load.oddities.push(`the job ${jobId} has no capsule: ${String(job.status_reason)}`)
  return null
}

/** A request that makes a capsule. */
async function made(
  story: Story,
  ends: Ends,
  action: AuditAction,
  path: string,
  body: Record<string, unknown> | Buffer
): Promise<ToldCapsule | null> {
  const answer = await insist(story.client, 'POST', path, body, keyOf(story))
  if (answer.kind === 'lost') {
    story.load.oddities.push(`POST ${path} of ${story.name}: never answered: ${answer.why}`)
    return null
  }
  if (answer.status !== 201) return odd(story, `POST ${path}`, answer)
  const name = Buffer.isBuffer(body) ? story.name : String((body as { name?: unknown }).name)
  return tellOf(story, String(answer.body.capsule_id), name, ends, action)
}

function tellOf(story: Story, id: string, name: string, ends: Ends, action: AuditAction): ToldCapsule {
  const nothingYet = { changed: false, unsure: false, runIds: [], cancelAsked: false, digest: null, downloads: [] }
  const capsule: ToldCapsule = { id, name, ends, changes: { [action]: 1 }, ...nothingYet }
  story.told.push(capsule)
  return capsule
}

/** A change of a capsule. @returns the answer when it was done, `null` when it was refused with one of these or never answered. */
async function write(
  story: Story,
  capsule: ToldCapsule,
  action: AuditAction,
  method: Method,
  path: string,
  body: unknown,
  refusals: readonly number[]
): Promise<Record<string, unknown> | null> {
  const at = `/api/capsules/${capsule.id}${path}`
  const answer = await insist(story.client, method, at, body, keyOf(story))
  if (answer.kind === 'lost') {
    capsule.unsure = true
    return null
  }
  if (answer.status < 300) {
    capsule.changes[action] = (capsule.changes[action] ?? 0) + 1
    return answer.body
  }
  return refusals.includes(answer.status) ? null : odd(story, `${method} ${at}`, answer)
}

/** Two at once, and perhaps a change: one seal comes of it. */
async function sealTwice(story: Story, capsule: ToldCapsule, changing = false): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS && capsule.digest === null; attempt++) {
    const seal = () => write(story, capsule, 'capsule.sealed', 'POST', '/seal', { exit_code: 0 }, [403, 409])
    const change = () =>
      write(story, capsule, 'capsule.updated', 'PATCH', '', { description: `attempt ${attempt}` }, [403])
    const sealed = await Promise.all([seal(), seal(), ...(changing ? [change()] : [])])
    for (const record of sealed) {
      const digest = (record?.seal as { capsule_digest?: string } | null | undefined)?.capsule_digest
      if (digest) capsule.digest = digest
    }
    if (capsule.unsure) return
  }
}

/** Published and archived at once: one of them. */
const endTwice = async (story: Story, capsule: ToldCapsule): Promise<void> => {
  const text = { title: capsule.name, description: 'under chaos' }
  await Promise.all([
    write(story, capsule, 'capsule.published', 'POST', '/publish', text, [403]),
    write(story, capsule, 'capsule.archived', 'POST', '/archive', undefined, [403])
  ])
}

async function run(
  story: Story,
  capsule: ToldCapsule,
  mode: 'verify' | 'template',
  refusals: readonly number[] = []
): Promise<string | null> {
  const answer = await write(story, capsule, 'capsule.run', 'POST', '/run', { mode }, refusals)
  if (!answer) return null
  capsule.runIds.push(String(answer.capsule_run_id))
  return String(answer.capsule_run_id)
}

async function schedule(story: Story, capsule: ToldCapsule, paused: boolean): Promise<void> {
  const body = { cron: '* * * * *', paused, alert: { emails: [story.alertTo] } }
  await write(story, capsule, 'capsule.schedule.changed', 'PUT', '/schedule', body, [])
}

const unschedule = (story: Story, capsule: ToldCapsule) =>
  write(story, capsule, 'capsule.schedule.deleted', 'DELETE', '/schedule', undefined, [403, 404])

async function backfill(story: Story, capsule: ToldCapsule): Promise<void> {
  const to = new Date()
  const range = { from: new Date(to.getTime() - 150_000).toISOString(), to: to.toISOString() }
  const at = `/api/capsules/${capsule.id}/schedule/backfill`
  const answer = await insist(story.client, 'POST', at, range, keyOf(story))
  if (answer.kind === 'lost') capsule.unsure = true
  else if (answer.status !== 201) odd(story, `POST ${at}`, answer)
  else
    for (const { capsule_run_id: id } of answer.body.runs as { capsule_run_id: string }[]) {
      capsule.runIds.push(id)
      capsule.changes['capsule.run'] = (capsule.changes['capsule.run'] ?? 0) + 1
    }
}

async function cancelOne(story: Story, capsule: ToldCapsule, runId: string): Promise<void> {
  await delay(story.chance.between(0, 2_000))
  const answer = await insist(story.client, 'GET', `/api/capsules/${capsule.id}/runs/${runId}`)
  if (answer.kind === 'lost') return
  const jobId = story.chance.pick(answer.body.job_ids as string[])
  capsule.cancelAsked = true
  const { kind, status } = { status: 0, ...(await insist(story.client, 'POST', `/api/jobs/${jobId}/cancel`)) }
  // 409: it has ended already.
  if (kind === 'answer' && status !== 202 && status !== 409) story.load.oddities.push(`cancelling ${jobId}: ${status}`)
}

/** Those of them that are under way; no look says more than that. */
async function openRuns({ client }: Story, { id }: ToldCapsule): Promise<number | null> {
  let open = 0
  for (const status of ['pending', 'running', 'judging']) {
    const answer = await client.call('GET', `/api/capsules/${id}/runs?status=${status}&limit=1`)
    if (answer.kind === 'lost') return null
    // It was deleted.
    if (answer.status === 404) return 0
    open += Number(answer.body.total)
  }
  return open
}

async function runsOver(story: Story, capsule: ToldCapsule): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS
  while (performance.now() < deadline && (await openRuns(story, capsule)) !== 0) await delay(LOOK_MS)
}

async function hasCompleted({ client }: Story, { id }: ToldCapsule): Promise<boolean> {
  const answer = await insist(client, 'GET', `/api/capsules/${id}/runs?status=completed&limit=1`)
  return answer.kind === 'answer' && Number(answer.body.total) > 0
}

async function jobOver({ client }: Story, jobId: string): Promise<Record<string, unknown> | null> {
  const deadline = performance.now() + PATIENCE_MS
  while (performance.now() < deadline) {
    const answer = await client.call('GET', `/api/jobs/${jobId}`)
    if (answer.kind === 'answer' && isFinal(answer.body.status as JobStatus)) return answer.body
    await delay(LOOK_MS)
  }
  return null
}

/** @returns the bytes; only those of what is sealed are kept in mind. */
async function download({ client }: Story, capsule: ToldCapsule): Promise<Buffer | null> {
  const bytes = await client.download(`/api/capsules/${capsule.id}/export`)
  if (bytes && capsule.digest !== null) capsule.downloads.push(createHash('sha256').update(bytes).digest('hex'))
  return bytes
}

const keyOf = (story: Story): string => `chaos ${story.name} ${++story.requests}`

function odd({ load }: Story, what: string, answer: Extract<Answer, { kind: 'answer' }>): null {
  load.oddities.push(`${what}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return null
}
