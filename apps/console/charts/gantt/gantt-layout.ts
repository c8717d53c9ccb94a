// Where each part of a task graph's Gantt chart stands. Only rows within the window are laid out, so that a graph of
// 2,000 tasks costs about as much as one of 60.
import { clipped } from '../../text/shown-text.js'
import { clockText, durationText, type TimeTick, timeTicks } from '../../text/times.js'
import { criticalPath, endOf, type GanttTask, lastedOf, shortKey, taskCountsText, taskSections } from './task-rows.js'

export interface GanttAttempt {
  taskId: string
  number: number
  state: string
  startedAt: number
  endedAt: number | null
}

export interface GanttData {
  tasks: readonly GanttTask[]
  attempts: readonly GanttAttempt[]
}

export interface GanttWindow {
  width: number
  now: number
  /** Draws every task of a large graph. */
  all: boolean
  /** How far the rows are scrolled, and how much of them is seen. */
  top: number
  height: number
  /** The task that is pointed at, whose dependencies are drawn. */
  pointed: string | null
}

export interface GanttBar {
  key: number
  x: number
  width: number
  /** Of the attempt, or of the task where its attempts are not known. */
  state: string
}

export type GanttRow =
  | { kind: 'heading'; key: string; y: number; text: string }
  | {
      kind: 'task'
      key: string
      id: string
      y: number
      label: string
      state: string
      lasted: string
      isCritical: boolean
      /** How the task is related to the one that is pointed at. */
      relation: 'self' | 'before' | 'after' | null
      bars: GanttBar[]
      /** From the first start to the last end, where the task waits between attempts as well. */
      line: { x: number; width: number } | null
      title: string
    }

export interface GanttLayout {
  /** Of all rows, seen or not. */
  height: number
  stateX: number
  /** `null` where there is no room. */
  lastedX: number | null
  plot: { x: number; width: number }
  ticks: (TimeTick & { x: number; anchor: 'start' | 'middle' | 'end' })[]
  rows: GanttRow[]
  /** From the end of a task to the start of one that needs it, of the task that is pointed at, within the window. */
  links: string[]
  counts: string
  caption: string
  /** Tasks that have no row. */
  notShown: number
}

export const ROW = 24
const MIDDLE = ROW / 2
const OVERSCAN = 4
const GAP = 8
/** Of the proportional font of labels, at 12 pixels and bold. */
const CELL = 7.4
const STATE_WIDTH = 68
const LASTED_WIDTH = 88
const NARROW = 560
const TICK_ROOM = 72
const LABEL_HALF = 28
const BAR_MIN = 2
const DEPENDENCIES_NAMED_MAX = 12

export function ganttLayout({ tasks, attempts }: GanttData, window: GanttWindow): GanttLayout {
  const { width, now, top, height } = window
  const sections = taskSections(tasks, now, window.all)
  const items: (GanttTask | string)[] = sections.flatMap(({ heading, tasks }) => [
    ...(heading === null ? [] : [heading]),
    ...tasks
  ])
  const from = Math.max(0, Math.floor(top / ROW) - OVERSCAN)
  const seen = items.slice(from, Math.ceil((top + height) / ROW) + OVERSCAN)

  const axis = axisOf(tasks, now)
  const isNarrow = width < NARROW
  const labelWidth = Math.min(220, Math.max(96, width * 0.26))
  const stateX = labelWidth + GAP
  const lastedX = isNarrow ? null : stateX + STATE_WIDTH + LASTED_WIDTH
  const plotX = (lastedX ?? stateX + STATE_WIDTH) + GAP
  const plot = { x: plotX, width: Math.max(60, width - plotX - 2) }
  const scale = axis ? plot.width / (axis.end - axis.begin) : 0
  const span = (begin: number, end: number) => {
    const x = Math.min(plot.x + (begin - axis!.begin) * scale, plot.x + plot.width - BAR_MIN)
    return { x, width: Math.min(Math.max(BAR_MIN, (end - begin) * scale), plot.x + plot.width - x) }
  }

  const shownIds = new Set(seen.flatMap((item) => (typeof item === 'string' ? [] : [item.id])))
  const attemptsOf = new Map<string, GanttAttempt[]>()
  for (const attempt of attempts) {
    if (!shownIds.has(attempt.taskId)) continue
    const known = attemptsOf.get(attempt.taskId)
    if (known) known.push(attempt)
    else attemptsOf.set(attempt.taskId, [attempt])
  }
  const path = criticalPath(tasks, now)
  const pointed = window.pointed === null ? undefined : tasks.find(({ id }) => id === window.pointed)
  const needed = new Set(pointed?.dependsOn)

  const rows = seen.map((item, at): GanttRow => {
    const y = (from + at) * ROW
    if (typeof item === 'string') return { kind: 'heading', key: `heading ${item}`, y, text: item }
    const own = attemptsOf.get(item.id) ?? []
    const lasted = item.startedAt === null ? '' : durationText(lastedOf(item, now))
    return {
      kind: 'task',
      key: item.id,
      id: item.id,
      y,
      label: clipped(`${shortKey(item.key)} ${item.name}`, Math.floor(labelWidth / CELL)),
      state: item.state,
      lasted,
      isCritical: path.has(item.id),
      relation: !pointed
        ? null
        : item.id === pointed.id
          ? 'self'
          : needed.has(item.id)
            ? 'before'
            : item.dependsOn.includes(pointed.id)
              ? 'after'
              : null,
      bars: item.startedAt === null ? [] : barsOf(item, own, now, span),
      line: item.startedAt === null ? null : span(item.startedAt, endOf(item, now)),
      title: titleOf(item, own, lasted, path.has(item.id))
    }
  })
  const ticks = axis ? timeTicks(axis.end - axis.begin, Math.max(1, Math.floor(plot.width / TICK_ROOM))) : []
  const isOver = tasks.every(({ state }) => state !== 'running' && state !== 'pending')
  const notShown = tasks.length - (items.length - sections.filter(({ heading }) => heading !== null).length)
  return {
    height: items.length * ROW,
    stateX,
    lastedX,
    plot,
    ticks: ticks.map((tick) => {
      const x = plot.x + tick.after * scale
      // The first and the last label stay within the picture.
      return { ...tick, x, anchor: tick.after === 0 ? 'start' : x > width - LABEL_HALF ? 'end' : 'middle' }
    }),
    rows,
    links: pointed ? linksOf(rows, pointed.id) : [],
    counts: taskCountsText(tasks),
    caption: axis
      ? `From ${clockText(axis.begin)}; ${durationText(axis.end - axis.begin)} ${isOver ? 'in all' : 'so far'}.`
      : 'No task has started.',
    notShown
  }
}

/** From the first start to the last end; `null` before any task has started. */
function axisOf(tasks: readonly GanttTask[], now: number): { begin: number; end: number } | null {
  let [begin, end] = [Infinity, -Infinity]
  for (const task of tasks) {
    if (task.startedAt === null) continue
    begin = Math.min(begin, task.startedAt)
    end = Math.max(end, endOf(task, now))
  }
  return begin === Infinity ? null : { begin, end: Math.max(end, begin + 1) }
}

function barsOf(
  task: GanttTask,
  attempts: readonly GanttAttempt[],
  now: number,
  span: (begin: number, end: number) => { x: number; width: number }
): GanttBar[] {
  if (attempts.length === 0) return [{ key: 0, ...span(task.startedAt!, endOf(task, now)), state: task.state }]
  return attempts.map(({ number, state, startedAt, endedAt }) => ({
    key: number,
    ...span(startedAt, endedAt ?? endOf(task, now)),
    state
  }))
}

function titleOf(task: GanttTask, attempts: readonly GanttAttempt[], lasted: string, isCritical: boolean): string {
  const keys = task.dependsOn.slice(0, DEPENDENCIES_NAMED_MAX).map((id) => clipped(shortKey(id), 24))
  const rest = task.dependsOn.length - keys.length
  return [
    `${clipped(`${shortKey(task.key)} ${task.name}`, 120)}: ${task.state}`,
    ...(lasted === '' ? [] : [lasted]),
    ...(attempts.length > 1 ? [`${attempts.length} attempts`] : []),
    ...(keys.length === 0 ? [] : [`after ${keys.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`]),
    ...(isCritical ? ['on the critical path'] : [])
  ].join(', ')
}

function linksOf(rows: readonly GanttRow[], pointed: string): string[] {
  const placed = rows.flatMap((row) => (row.kind === 'task' && row.line ? [row] : []))
  const self = placed.find(({ id }) => id === pointed)
  if (!self) return []
  return placed.flatMap((row) => {
    if (row.relation === 'before') return [link(row, self)]
    return row.relation === 'after' ? [link(self, row)] : []
  })
}

type LinkEnd = { y: number; line: { x: number; width: number } | null }

function link(from: LinkEnd, to: LinkEnd): string {
  const [x, y] = [from.line!.x + from.line!.width, from.y + MIDDLE]
  const [endX, endY] = [to.line!.x, to.y + MIDDLE]
  return `M${x} ${y}h4V${(y + endY) / 2}H${endX - 4}V${endY}h4`
}
