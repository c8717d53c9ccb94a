// Formats a finished job for a terminal.
import type { Attempt, Budget, JobRecord } from './session.js'

const barWidth = 40

/** One bar per outcome in the order of the bit strings; the most frequent outcome has the longest bar. */
export function barChart(counts: Record<string, number>): string {
  const most = Math.max(...Object.values(counts))
  return Object.entries(counts)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([outcome, count]) => {
      const bar = '█'.repeat(Math.max(1, Math.round((count / most) * barWidth)))
      return `    ${outcome}  ${bar} ${count}`
    })
    .join('\n')
}

/** When each status began; later statuses as seconds since the submission. */
export function statusTimes(job: JobRecord): string {
  const submitted = Date.parse(job.created_at)
  const after = (at: string | null) => (at ? ` +${((Date.parse(at) - submitted) / 1000).toFixed(2)} s` : '')
  const running = job.started_at ? ` -> running${after(job.started_at)}` : ''
  return `pending ${job.created_at.slice(11, 23)}${running} -> ${job.status}${after(job.completed_at)}`
}

export const money = (usd: number) => `$${usd.toFixed(2)}`

export const budgetLine = ({ day, month }: Budget) =>
  `budget left: ${money(day.remaining_usd)} today, ${money(month.remaining_usd)} this month`

export function attemptLine({ number, state, started_at, ended_at, error }: Attempt): string {
  const lasted = ended_at ? ` after ${((Date.parse(ended_at) - Date.parse(started_at)) / 1000).toFixed(2)} s` : ''
  const why = typeof error === 'string' ? error : error?.message
  return `attempt ${number}: ${state}${lasted}${why ? ` (${why})` : ''}`
}
