// The load: submissions at random times, some cancelled, some repeated by key, some run again, while others look on.
import { setTimeout as delay } from 'node:timers/promises'
import { isFinal, type JobStatus } from '../../domain/jobs/job-status.js'
import type { Chance } from './chance.js'
import { type ChaosClient, TRIES_MAX, TRY_AGAIN_MS } from './client.js'
import { type PlannedJob, planJob, planPaidJob } from './plan.js'

/** Of the submissions: by a team with hardly any budget; followed by a second run of an earlier job. */
const SCARCE_SHARE = 0.15
const RERUN_SHARE = 0.08
const LOOK_MS = 100
const RECENT = 50

/** What became of one planned job, as its submitter saw it. */
export interface Submission extends PlannedJob {
  client: ChaosClient
  /** Of the answered submission, and of its reruns. */
  ids: string[]
  refused: boolean
  /** How many jobs of this name there may be: each request without a key whose answer was lost may have made one. */
  mostJobs: number
  /** Requests whose answer was lost. */
  lost: number
  cancelAsked: boolean
}

export interface LoadResult {
  submissions: Submission[]
  /** The final status of each job that somebody was told. */
  told: Map<string, JobStatus>
  /** Answers that no caller should get: wrong whatever has died. */
  oddities: string[]
}

export interface LoadOptions {
  clients: { plenty: ChaosClient; scarce: ChaosClient }
  chance: Chance
  /** Begins the name of every job. */
  name: string
  perSecond: number
  /** Aborted: no more submissions; those under way are ended. */
  signal: AbortSignal
}

/** Resolves when every submission that was begun has its answer, or will never get one. @param result gets what was told. */
export async function runLoad(options: LoadOptions, result: LoadResult): Promise<void> {
  const { chance, clients, signal } = options
  let planned = 0
  const under = new Set<Promise<void>>()
  const begin = (work: Promise<void>) => {
    under.add(work)
    void work.finally(() => under.delete(work))
  }
  const looking = look(result, chance, signal)
  const come = (plan: PlannedJob, client: ChaosClient) => begin(submit(submissionOf(plan, client), result))
  // Whatever chance brings: some paid work of each mode is under way.
  for (const mode of ['direct', 'temporal'] as const)
    come(planPaidJob(chance, `${options.name}-paid-${mode}`, mode), clients.plenty)
  while (!signal.aborted) {
    // Callers come whenever they like.
    const pause = (-Math.log(1 - chance.next()) * 1000) / options.perSecond
    await delay(Math.min(pause, 5_000), undefined, { signal }).catch(() => {})
    if (signal.aborted) break
    const client = chance.holds(SCARCE_SHARE) ? clients.scarce : clients.plenty
    come(planJob(chance, `${options.name}-${planned++}`, client === clients.plenty), client)
    if (chance.holds(RERUN_SHARE)) begin(rerun(chance, result))
  }
  await Promise.all([looking, ...under])
}

/** A planned job before anybody has asked for it. */
export const submissionOf = (plan: PlannedJob, client: ChaosClient): Submission => ({
  ...plan,
  client,
  ids: [],
  refused: false,
  mostJobs: 1,
  lost: 0,
  cancelAsked: false
})

/** Submits a planned job, and cancels it when that is planned. Resolves when that is answered, or never will be. */
export async function submit(submission: Submission, result: LoadResult): Promise<void> {
  result.submissions.push(submission)
  for (let tries = 1; tries <= TRIES_MAX; tries++) {
    const answer = await submission.client.call('POST', '/api/jobs/submit', submission.body, submission.key)
    if (answer.kind === 'answer') {
      if (answer.status === 201) submission.ids.push(String(answer.body.job_id))
      else if (answer.status === 402) submission.refused = true
      else result.oddities.push(`submitting ${submission.name}: ${answer.status} ${JSON.stringify(answer.body)}`)
      break
    }
    submission.lost += 1
    // Without a key a second request would be a second job.
    if (submission.key === null) return
    await delay(TRY_AGAIN_MS)
  }
  const [id] = submission.ids
  if (!id || submission.cancelAfterMs === null) return
  await delay(submission.cancelAfterMs)
  await cancel(id, submission, result)
}

async function cancel(id: string, submission: Submission, result: LoadResult): Promise<void> {
  for (let tries = 1; tries <= TRIES_MAX; tries++) {
    submission.cancelAsked = true
    const answer = await submission.client.call('POST', `/api/jobs/${id}/cancel`)
    if (answer.kind === 'answer') {
      // 409: it has ended already.
      if (answer.status !== 202 && answer.status !== 409)
        result.oddities.push(`cancelling ${submission.name}: ${answer.status} ${JSON.stringify(answer.body)}`)
      return
    }
    await delay(TRY_AGAIN_MS)
  }
}

async function rerun(chance: Chance, result: LoadResult): Promise<void> {
  const ended = result.submissions.filter(
    ({ ids, cancelAfterMs }) => cancelAfterMs === null && result.told.has(ids[0] ?? '')
  )
  if (ended.length === 0) return
  const submission = chance.pick(ended)
  submission.mostJobs += 1
  const answer = await submission.client.call('POST', `/api/jobs/${submission.ids[0]}/rerun`)
  if (answer.kind === 'lost') submission.lost += 1
  else if (answer.status === 201) submission.ids.push(String(answer.body.job_id))
  else if (answer.status !== 402)
    result.oddities.push(`running ${submission.name} again: ${answer.status} ${JSON.stringify(answer.body)}`)
}

/** Asks for the status of one job after the other: an end that somebody was told has to stay. */
async function look(result: LoadResult, chance: Chance, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await delay(LOOK_MS, undefined, { signal }).catch(() => {})
    const answered = result.submissions.filter(({ ids }) => ids.length > 0).slice(-RECENT)
    if (answered.length === 0) continue
    const { client, ids } = chance.pick(answered)
    const id = chance.pick(ids)
    const answer = await client.call('GET', `/api/jobs/${id}/status?wait=1`)
    if (answer.kind === 'lost') continue
    const status = answer.body.status as JobStatus
    if (answer.status !== 200) result.oddities.push(`status of ${id}: ${answer.status} ${JSON.stringify(answer.body)}`)
    else if (isFinal(status)) result.told.set(id, status)
  }
}
