// Draws the tasks of a job on a time axis.
import type { TaskState } from '../../../domain/jobs/job-status.js'
import { type Column, table } from '../terminal/layout.js'
import { briefTime } from '../terminal/readable-time.js'
import { outScreen } from '../terminal/screen.js'
import { clipped, widthOf } from '../terminal/text-width.js'
import { plainLine } from '../terminal/untrusted-text.js'
import type { Attempt, Task } from './job-record.js'

/** More tasks than this are summarised, unless all are requested. */
const ROWS_MAX = 60
const SECTION_ROWS_MAX = 20
const SLOWEST_ROWS = 10
const NAME_WIDTH_MAX = 28
const NAME_WIDTH_MIN = 8
const LABEL_WIDTH_MAX = 12
const BAR_WIDTH_MIN = 16
/** Where there is no terminal. */
const BAR_WIDTH_USUAL = 40
const AFTER_WIDTH_MAX = 12
const ERROR_WIDTH_MAX = 500

/** Where there is no room, the last columns are left out first. */
const timelineColumns: Column[] = [
  { heading: 'TASK' },
  { heading: 'NAME' },
  { heading: 'STATE', status: true },
  { heading: 'TRIES', right: true },
  { heading: 'START', right: true },
  { heading: 'LASTED', right: true },
  { heading: 'AFTER' }
]
const stateOrder: TaskState[] = ['completed', 'running', 'failed', 'cancelled', 'skipped', 'pending']
const attemptMarks: Record<string, string> = { completed: '█', running: '▓', failed: '▒', lost: '▒', cancelled: '░' }

export interface TimelineOptions {
  /** The width of the terminal; Infinity where there is none. */
  columns: number
  /** The present time in milliseconds since the epoch, where the bars of running tasks end. */
  now: number
  /** Draws every task, without a summary. */
  all?: boolean
}

/** Whether a job is a graph. A plain job has one task with the id of the job. */
export const isGraph = (jobId: string, tasks: Task[]): boolean => tasks.some((task) => task.id !== jobId)

/** The number of tasks, in total and by state: `12 tasks: 9 completed, 1 running, 2 pending`. */
export function taskCounts(tasks: Task[]): string {
  const counts = stateOrder.flatMap((state) => {
    const count = tasks.filter((task) => task.state === state).length
    return count > 0 ? [`${count} ${state}`] : []
  })
  return `${tasks.length} ${tasks.length === 1 ? 'task' : 'tasks'}: ${counts.join(', ')}`
}

/** @param attempts the attempts of the job, which are drawn in the bars. */
export function timelineText(tasks: Task[], attempts: Attempt[], options: TimelineOptions): string {
  const axis = axisOf(tasks, options.now)
  const parts = [taskCounts(tasks) + (axis ? `; ${briefTime(axis.end - axis.begin)} in all` : '')]
  const sections: [heading: string | null, tasks: Task[]][] =
    options.all || tasks.length <= ROWS_MAX ? [[null, tasks]] : summarised(tasks, options.now)
  const shown = sections.flatMap(([, rows]) => rows)
  const [headings, ...lines] = rowsOf(shown, tasks, attempts, axis, options.columns)
  let at = 0
  for (const [heading, rows] of sections) {
    const block = rows.flatMap((task) => [lines[at++]!, ...errorLine(task)])
    parts.push([...(heading ? [heading] : []), headings!, ...block].join('\n'))
  }
  return parts.join('\n\n')
}

interface Axis {
  begin: number
  end: number
}

/** From the first start to the last end; `null` before anything has started. */
function axisOf(tasks: Task[], now: number): Axis | null {
  let [begin, end] = [Infinity, -Infinity]
  for (const task of tasks) {
    if (task.started_at === null) continue
    begin = Math.min(begin, Date.parse(task.started_at))
    end = Math.max(end, endOf(task, now))
  }
  return begin === Infinity ? null : { begin, end: Math.max(end, begin + 1) }
}

/** The end of a task, never before its start: the clock of this machine can be behind the service's. */
const endOf = ({ started_at, completed_at }: Task, now: number): number =>
  completed_at === null ? Math.max(now, Date.parse(started_at!)) : Date.parse(completed_at)

const durationOf = (task: Task, now: number): number =>
  task.started_at === null ? 0 : endOf(task, now) - Date.parse(task.started_at)

/** The tasks that matter in a large graph: failed, running and slowest. */
function summarised(tasks: Task[], now: number): [string, Task[]][] {
  const section = (heading: string, selected: Task[], most: number): [string, Task[]][] =>
    selected.length === 0
      ? []
      : [[selected.length > most ? `${heading} (${most} of ${selected.length})` : heading, selected.slice(0, most)]]
  const of = (state: TaskState) => tasks.filter((task) => task.state === state)
  const slowest = of('completed').sort((one, other) => durationOf(other, now) - durationOf(one, now))
  return [
    ...section('Failed', of('failed'), SECTION_ROWS_MAX),
    ...section('Running', of('running'), SECTION_ROWS_MAX),
    ...section('Slowest', slowest.slice(0, SLOWEST_ROWS), SLOWEST_ROWS)
  ]
}

/** The line of headings, then one line for each of `shown`. */
function rowsOf(shown: Task[], tasks: Task[], attempts: Attempt[], axis: Axis | null, columns: number): string[] {
  const labels = new Map(tasks.map((task) => [task.id, labelOf(task.key)]))
  for (const task of tasks) if (!labels.has(task.key)) labels.set(task.key, labelOf(task.key))
  const attemptsOf = new Map<string, Attempt[]>()
  for (const attempt of attempts) {
    const task = attempt.task_id ?? attempt.task
    attemptsOf.set(task, [...(attemptsOf.get(task) ?? []), attempt])
  }
  const shortens = columns !== Number.POSITIVE_INFINITY
  const cells = shown.map((task) => [
    shortens ? clipped(labels.get(task.id)!, LABEL_WIDTH_MAX) : labels.get(task.id)!,
    plainLine(task.name),
    task.state,
    String(task.attempts || ''),
    axis && task.started_at ? briefTime(Date.parse(task.started_at) - axis.begin) : '',
    axis && task.started_at ? briefTime(endOf(task, axis.end) - Date.parse(task.started_at)) : '',
    afterText(task.depends_on.map((id) => labels.get(id) ?? id))
  ])
  // Empty columns are left out to give the bars more room.
  const used = timelineColumns.filter(
    ({ heading }, at) =>
      !(heading === 'TRIES' && shown.every((task) => task.attempts < 2)) &&
      (cells.length === 0 || cells.some((row) => row[at] !== ''))
  )
  const linesOf = (kept: Column[], nameWidth: number) =>
    table(
      kept,
      cells.map((row) =>
        kept.map((column) => {
          const cell = row[timelineColumns.indexOf(column)]!
          return column.heading === 'NAME' ? clipped(cell, nameWidth) : cell
        })
      ),
      { ...outScreen(), columns: Number.POSITIVE_INFINITY }
    ).split('\n')
  const kept = [...used]
  let room: number
  for (;;) {
    room = columns - widest(linesOf(kept, NAME_WIDTH_MIN)) - 2 - (axis ? BAR_WIDTH_MIN : 0)
    if (room >= 0) break
    const last = kept.findLastIndex(({ heading }) => !['TASK', 'NAME', 'STATE'].includes(heading))
    if (last < 0) break
    kept.splice(last, 1)
  }
  const lines = linesOf(kept, shortens ? Math.min(NAME_WIDTH_MAX, NAME_WIDTH_MIN + Math.max(0, room)) : columns)
  const width = widest(lines)
  const barWidth = shortens ? columns - width - 2 : BAR_WIDTH_USUAL
  if (!axis || barWidth < BAR_WIDTH_MIN) return lines
  const bars = [axisLine(axis, barWidth)]
  for (const task of shown)
    bars.push(barOf(task, attemptsOf.get(task.id) ?? attemptsOf.get(task.key) ?? [], axis, barWidth))
  return lines.map((line, n) => `${line}${' '.repeat(width + 2 - widthOf(line))}${bars[n]}`.trimEnd())
}

const widest = (lines: string[]): number => lines.reduce((most, line) => Math.max(most, widthOf(line)), 0)

const axisLine = ({ begin, end }: Axis, width: number): string => {
  const right = briefTime(end - begin)
  return `0${right.padStart(width - 1)}`
}

function barOf(task: Task, attempts: Attempt[], axis: Axis, width: number): string {
  if (task.started_at === null) return ''
  const cells: string[] = new Array(width).fill(' ')
  const scale = width / (axis.end - axis.begin)
  const fill = (from: number, to: number, mark: string) => {
    const first = Math.min(width - 1, Math.max(0, Math.floor((from - axis.begin) * scale)))
    // A task that began and ended within one cell is still visible.
    const last = Math.max(first + 1, Math.min(width, Math.round((to - axis.begin) * scale)))
    cells.fill(mark, first, last)
  }
  const end = endOf(task, axis.end)
  // Between attempts the task waits for the next one.
  fill(Date.parse(task.started_at), end, attempts.length > 0 ? '·' : (attemptMarks[task.state] ?? '█'))
  for (const { started_at, ended_at, state } of attempts)
    fill(Date.parse(started_at), ended_at === null ? end : Date.parse(ended_at), attemptMarks[state] ?? '█')
  return cells.join('').trimEnd()
}

function errorLine({ error }: Task): string[] {
  if (!error) return []
  return [`      ${clipped(plainLine(`${error.code}: ${error.message}`), ERROR_WIDTH_MAX)}`]
}

/** `task_0012` becomes 12, in a script's second graph `2.12`; any other key stays unchanged. */
function labelOf(key: string): string {
  const [, graph = '', number] = /^(\d+\.)?task_(\d{1,9})$/.exec(key) ?? []
  return number === undefined ? plainLine(key) : graph + Number(number)
}

/** `1-3,7`; labels beyond the width are counted. */
function afterText(labels: string[]): string {
  const runs: { text: string; size: number }[] = []
  for (let at = 0; at < labels.length; ) {
    let last = at
    while (last + 1 < labels.length && labels[last + 1] === nextLabel(labels[last]!)) last++
    const size = last - at + 1
    if (size > 2) runs.push({ text: `${labels[at]}-${labels[last]}`, size })
    else for (const label of labels.slice(at, last + 1)) runs.push({ text: label, size: 1 })
    at = last + 1
  }
  let text = ''
  let left = labels.length
  for (const run of runs) {
    const longer = text === '' ? run.text : `${text},${run.text}`
    const rest = left - run.size
    if (text !== '' && longer.length + (rest > 0 ? `,+${rest}`.length : 0) > AFTER_WIDTH_MAX) return `${text},+${left}`
    text = longer
    left = rest
  }
  return text
}

/** `null` for a key without a number. */
function nextLabel(label: string): string | null {
  const [, graph = '', number] = /^(\d+\.)?(\d{1,9})$/.exec(label) ?? []
  return number === undefined ? null : graph + (Number(number) + 1)
}
