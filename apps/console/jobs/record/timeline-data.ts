// The timeline of a job, made of its events.
import type { AttemptSpan, TimelineData } from '../../charts/timeline/timeline-layout.js'
import type { JobEvent } from './job-event.js'

/** The attempts of a graph's tasks are those of its Gantt chart, so a timeline has the attempts of one task alone. */
export function timelineData(events: readonly JobEvent[], isOver: boolean): TimelineData {
  const statuses = events.flatMap((event) =>
    event.type === 'status' ? [{ status: event.status, at: Date.parse(event.at), reason: event.reason }] : []
  )
  const attempts = new Map<number, AttemptSpan>()
  const tasks = new Set<string>()
  for (const event of events) {
    if (event.type !== 'attempt') continue
    tasks.add(event.task)
    const at = Date.parse(event.at)
    const known = attempts.get(event.number)
    attempts.set(event.number, {
      number: event.number,
      state: event.state,
      startedAt: known?.startedAt ?? at,
      endedAt: event.state === 'running' ? null : at,
      backoffMs: null
    })
  }
  return { statuses, attempts: tasks.size > 1 ? [] : withPauses([...attempts.values()]), isOver }
}

const withPauses = (attempts: readonly AttemptSpan[]): AttemptSpan[] =>
  attempts.map((attempt, at) => {
    const next = attempts[at + 1]
    return next && attempt.endedAt !== null ? { ...attempt, backoffMs: next.startedAt - attempt.endedAt } : attempt
  })
