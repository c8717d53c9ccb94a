// What changes in the teams of everybody who listens to this process, gathered for a moment and read in one statement for all of
// them. Nothing is kept for those who come later: they begin with a resync, and read what they show.
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import type { Db } from '../../../../db/client.js'
import type { JobListener } from '../../../../db/jobs/job-changes.js'
import { type ChangedJob, type ChangedRun, changedJobs, changedRuns } from '../../../../db/service/team-changes.js'
import { queueView } from '../job-view.js'

/** Ten updates a second are more than anybody reads. */
const GATHER_MS = 100
const ROWS_PER_READ = 100
/** So many changes at once are not sent one by one: listeners read again what they show. */
const WAITING_MAX = 5_000
/** What a reader has not taken yet. A slower one gets a resync in its place. */
const FRAMES_MAX = 1_000
/** States that were sent last, so that output of a program and its tasks do not repeat the state of its job. */
const SENT_MAX = 10_000

export const RESYNC = 'event: resync\ndata: {}\n\n'

export interface TeamListener {
  userId: string
  /** The only team that a key hears of. */
  teamId: string | null
  /** Called when there is something to take. */
  wake(): void
}

export interface TeamFeed {
  /** @returns takes what has come since the last call, as text of the stream; and leaves. */
  join(listener: TeamListener): { take(): string; leave(): void }
}

interface Joined extends TeamListener {
  frames: string[]
}

export function createTeamFeed(db: Db, listener: JobListener, log: FastifyBaseLogger, now: () => Date): TeamFeed {
  const joined = new Set<Joined>()
  const waiting = { jobs: new Set<string>(), runs: new Set<string>() }
  const sent = new Map<string, string>()
  let unsubscribe: (() => void) | null = null
  let reading = false

  const changed = (ids: Set<string>) => (id: string) => {
    ids.add(id)
    if (ids.size > WAITING_MAX) return resync()
    if (reading) return
    reading = true
    void readAll()
  }

  /** After what may have been missed. */
  function resync(): void {
    // A state that returns after one that was missed is a change again.
    for (const kept of [waiting.jobs, waiting.runs, sent]) kept.clear()
    for (const one of joined) give(one, RESYNC)
  }

  async function readAll(): Promise<void> {
    while (joined.size > 0 && waiting.jobs.size + waiting.runs.size > 0) {
      await delay(GATHER_MS)
      const users = [...new Set([...joined].map(({ userId }) => userId))]
      const [jobIds, runIds] = [taken(waiting.jobs), taken(waiting.runs)]
      try {
        const [jobs, runs] = await Promise.all([
          jobIds.length > 0 ? changedJobs(db, jobIds, users) : [],
          runIds.length > 0 ? changedRuns(db, runIds, users) : []
        ])
        for (const job of jobs) tell(job, 'job', jobData(job, now()))
        for (const run of runs) tell(run, 'capsule_run', runData(run, now()))
      } catch (err) {
        log.warn({ err }, 'changes in teams could not be read; their listeners are told to read again')
        resync()
      }
    }
    reading = false
  }

  function tell({ id, teamId, listeners }: ChangedJob | ChangedRun, event: string, { at, ...state }: Data): void {
    const text = JSON.stringify(state)
    if (sent.get(id) === text) return
    sent.delete(id)
    sent.set(id, text)
    if (sent.size > SENT_MAX) sent.delete(sent.keys().next().value!)
    const frame = `event: ${event}\ndata: ${JSON.stringify({ ...state, at })}\n\n`
    for (const one of joined)
      if (listeners.includes(one.userId) && (one.teamId === null || one.teamId === teamId)) give(one, frame)
  }

  function give(one: Joined, frame: string): void {
    if (frame === RESYNC || one.frames.length >= FRAMES_MAX) one.frames = [RESYNC]
    else one.frames.push(frame)
    one.wake()
  }

  return {
    join(listening) {
      const one: Joined = { ...listening, frames: [RESYNC] }
      joined.add(one)
      unsubscribe ??= listener.onAny({ job: changed(waiting.jobs), capsuleRun: changed(waiting.runs), missed: resync })
      return {
        take: () => one.frames.splice(0).join(''),
        leave() {
          joined.delete(one)
          if (joined.size > 0) return
          unsubscribe?.()
          unsubscribe = null
          for (const kept of [waiting.jobs, waiting.runs, sent]) kept.clear()
        }
      }
    }
  }
}

/** `at` is no part of the state. */
type Data = { at: string; [field: string]: unknown }

const jobData = (job: ChangedJob, now: Date): Data => ({
  job_id: job.id,
  team_id: job.teamId,
  status: job.status,
  queue: queueView(job, now),
  at: job.updatedAt.toISOString()
})

const runData = (run: ChangedRun, now: Date): Data => ({
  capsule_run_id: run.id,
  capsule_id: run.capsuleId,
  team_id: run.teamId,
  status: run.status,
  verdict: run.verdict,
  at: now.toISOString()
})

/** Removes and returns the ids of one read. */
function taken(ids: Set<string>): string[] {
  const some = [...ids].slice(0, ROWS_PER_READ)
  for (const id of some) ids.delete(id)
  return some
}
