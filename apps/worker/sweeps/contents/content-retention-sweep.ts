// Removes results, values of tasks and output of finished jobs when their time is over, once an hour. Teams take turns, so one
// with millions of jobs holds up no other.
import type { Logger } from 'pino'
import type { Db } from '../../../../db/client.js'
import { type KeptContent, limitedContents, removeDue } from '../../../../db/deletion/content-retention.js'
import type { KeptDays } from '../../../../domain/teams/content-retention.js'
import { createFailedRows } from '../failed-rows.js'
import type { SweepReports } from '../sweep-reports.js'
import { startSharedLoop, type TimerLoop } from '../timer-loop.js'

const EVERY_MS = 60 * 60 * 1_000
/** How many teams are read at once. */
const TEAMS_AT_ONCE = 100

interface ContentRetentionDeps {
  db: Db
  keptDays: KeptDays
  reports: SweepReports
  log: Logger
}

export function startContentRetentionSweep(deps: ContentRetentionDeps): TimerLoop {
  const { db, keptDays, reports, log } = deps
  const failures = createFailedRows(log, 'job_contents')
  let closing = false

  /** Looks at the next jobs of one team. @returns `null` when it has no more. */
  async function look(content: KeptContent, after: string | null) {
    try {
      const { removed, last, mark } = await removeDue(db, content, after)
      return { removed, next: last === null ? null : { content: { ...content, mark }, after: last } }
    } catch (error) {
      failures.failedAlone(`${content.kind} of team ${content.teamId}`, error)
      return { removed: 0, next: null }
    }
  }

  async function pass() {
    let removed = 0
    let team: string | null = null
    do {
      const page = await limitedContents(db, keptDays, { after: team, max: TEAMS_AT_ONCE })
      team = page.last
      let turns = page.contents.map((content) => ({ content, after: content.mark }))
      while (turns.length > 0 && !closing) {
        const rest: typeof turns = []
        for (const { content, after } of turns) {
          if (closing) break
          const { removed: some, next } = await look(content, after)
          removed += some
          if (next) rest.push(next)
        }
        turns = rest
      }
    } while (team !== null && !closing)
    if (removed > 0) log.info({ jobs: removed }, 'contents of jobs removed whose time is over')
    return { more: false, handled: removed, ...failures.take() }
  }

  const loop = startSharedLoop({ db, reports, log }, 'job_contents', EVERY_MS, pass)
  return {
    name: loop.name,
    close: () => {
      closing = true
      return loop.close()
    }
  }
}
