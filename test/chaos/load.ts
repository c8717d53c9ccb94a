// The load: submissions at random times, some cancelled, some retried with a key, some rerun, with status polls at the same
// time.
import { setTimeout as delay } from 'node:timers/promises'
import { isFinal, type JobStatus } from '../../domain/jobs/job-status.js'
import type { Chance } from './chance.js'
import { type ChaosClient, TRIES_MAX, TRY_AGAIN_MS } from './client.js'
import { type PlannedJob, planJob, planPaidJob } from './plan.js'

/** The shares of submissions by a team with hardly any budget, and of those followed by a rerun of an earlier job. */
const SCARCE_SHARE = 0.15
const RERUN_SHARE = 0.08
const POLL_MS = 100
const modes = ['direct', 'temporal'] as const
const RECENT = 50

/** One planned job as its submitter sees it. */
export interface Submission extends PlannedJob {
  client: ChaosClient
  /** The jobs of the submission and of its reruns, from responses. */
  ids: string[]
  refused: boolean
  /** The most jobs that can have this name: each request without a key whose response was lost may have created one. */
  mostJobs: number
  /** The number of requests whose response was lost. */
  lost: number
  /** Also set for a job whose workflow an operator terminates, which cancels it. */
  cancelRequested: boolean
  /** No operator terminates it. */
  mustComplete: boolean
}

export interface LoadResult {
  submissions: Submission[]
  /** The final status of each job that a response has reported. */
  reported: Map<string, JobStatus>
  /** Responses that are wrong whatever process died. */
  unexpectedResponses: string[]
}

export interface LoadOptions {
  clients: { plenty: ChaosClient; scarce: ChaosClient }
  /** The backends at providers, for which the team with budget has credentials. */
  paidBackends: readonly string[]
  chance: Chance
  /** The prefix of the name of every job. */
  name: string
  perSecond: number
  /** On abort, submissions stop, and those in progress finish. */
  signal: AbortSignal
}

/** Resolves when every submission has its response or has lost it. @param result collects the responses. */
export async function runLoad(options: LoadOptions, result: LoadResult): Promise<void> {
  const { chance, clients, paidBackends, signal } = options
  let planned = 0
  const inProgress = new Set<Promise<void>>()
  const begin = (work: Promise<void>) => {
    inProgress.add(work)
    void work.finally(() => inProgress.delete(work))
  }
  const polling = pollStatuses(result, chance, signal)
  const submitPlanned = (plan: PlannedJob, client: ChaosClient) => begin(submit(submissionOf(plan, client), result))
  // At least one paid job of each provider and of each mode runs.
  for (let at = 0; at < Math.max(modes.length, paidBackends.length); at++) {
    const [mode, backend] = [modes[at % modes.length]!, paidBackends[at % paidBackends.length]!]
    const plan = planPaidJob(chance, `${options.name}-paid-${at}`, mode, backend)
    begin(submit({ ...submissionOf(plan, clients.plenty), mustComplete: true }, result))
  }
  while (!signal.aborted) {
    // Submissions arrive at random times.
    const pause = (-Math.log(1 - chance.next()) * 1000) / options.perSecond
    await delay(Math.min(pause, 5_000), undefined, { signal }).catch(() => {})
    if (signal.aborted) break
    const client = chance.holds(SCARCE_SHARE) ? clients.scarce : clients.plenty
    submitPlanned(
      planJob(chance, `${options.name}-${planned++}`, client === clients.plenty ? paidBackends : []),
      client
    )
    if (chance.holds(RERUN_SHARE)) begin(rerun(chance, result))
  }
  await Promise.all([polling, ...inProgress])
}

/** A planned job before its submission. */
export const submissionOf = (plan: PlannedJob, client: ChaosClient): Submission => ({
  ...plan,
  client,
  ids: [],
  refused: false,
  mostJobs: 1,
  lost: 0,
  cancelRequested: false,
  mustComplete: false
})

/** Submits a planned job, and cancels it if planned. Resolves when there is a response, or it is lost. */
export async function submit(submission: Submission, result: LoadResult): Promise<void> {
  result.submissions.push(submission)
  for (let tries = 1; tries <= TRIES_MAX; tries++) {
    const response = await submission.client.call('POST', '/api/jobs/submit', submission.body, submission.key)
    if (response.kind === 'response') {
      if (response.status === 201) submission.ids.push(String(response.body.job_id))
      else if (response.status === 402) submission.refused = true
      else
        result.unexpectedResponses.push(
          `submitting ${submission.name}: ${response.status} ${JSON.stringify(response.body)}`
        )
      break
    }
    submission.lost += 1
    // Without a key, a second request would create a second job.
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
    submission.cancelRequested = true
    const response = await submission.client.call('POST', `/api/jobs/${id}/cancel`)
    if (response.kind === 'response') {
      // 409: it has finished already.
      if (response.status !== 202 && response.status !== 409)
        result.unexpectedResponses.push(
          `cancelling ${submission.name}: ${response.status} ${JSON.stringify(response.body)}`
        )
      return
    }
    await delay(TRY_AGAIN_MS)
  }
}

async function rerun(chance: Chance, result: LoadResult): Promise<void> {
  const ended = result.submissions.filter(
    ({ ids, cancelAfterMs }) => cancelAfterMs === null && result.reported.has(ids[0] ?? '')
  )
  if (ended.length === 0) return
  const submission = chance.pick(ended)
  submission.mostJobs += 1
  const response = await submission.client.call('POST', `/api/jobs/${submission.ids[0]}/rerun`)
  if (response.kind === 'lost') submission.lost += 1
  else if (response.status === 201) submission.ids.push(String(response.body.job_id))
  else if (response.status !== 402)
    result.unexpectedResponses.push(`rerunning ${submission.name}: ${response.status} ${JSON.stringify(response.body)}`)
}

/** Polls the status of one job after another: a reported final status must never change. */
async function pollStatuses(result: LoadResult, chance: Chance, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await delay(POLL_MS, undefined, { signal }).catch(() => {})
    const answered = result.submissions.filter(({ ids }) => ids.length > 0).slice(-RECENT)
    if (answered.length === 0) continue
    const { client, ids } = chance.pick(answered)
    const id = chance.pick(ids)
    const response = await client.call('GET', `/api/jobs/${id}/status?wait=1`)
    if (response.kind === 'lost') continue
    const status = response.body.status as JobStatus
    if (response.status !== 200)
      result.unexpectedResponses.push(`status of ${id}: ${response.status} ${JSON.stringify(response.body)}`)
    else if (isFinal(status)) result.reported.set(id, status)
  }
}
