// Where each part of a job's timeline stands: a bar for each status that the job had, then one for each attempt with the
// pause after it. What is not over grows to the present time.

import { clipped } from '../../text/shown-text.js'
import { clockText, durationText, type TimeTick, timeTicks } from '../../text/times.js'

export interface StatusChange {
  status: string
  /** Milliseconds since the epoch, like all times here. */
  at: number
  reason?: string | null
}

export interface AttemptSpan {
  number: number
  state: string
  startedAt: number
  endedAt: number | null
  /** The pause before the next attempt. */
  backoffMs: number | null
}

export interface TimelineData {
  /** In the order in which they happened. */
  statuses: readonly StatusChange[]
  attempts: readonly AttemptSpan[]
  /** Whether the last status is final: a final status has no length. */
  isOver: boolean
}

export interface PlacedSpan {
  kind: 'status' | 'attempt'
  /** The status, or the state of the attempt. */
  state: string
  label: string
  y: number
  /** `null` for a moment: the final status. */
  bar: { x: number; width: number } | null
  moment: { x: number } | null
  pause: { x: number; width: number } | null
  value: { x: number; text: string }
  title: string
}

export interface TimelineLayout {
  width: number
  height: number
  plot: { x: number; width: number; height: number }
  ticks: (TimeTick & { x: number })[]
  rows: PlacedSpan[]
  attemptsNotShown: number
  caption: string
  description: string
}

const ROW = 24
const AXIS = 22
const LABEL_WIDTH = 104
const VALUE_WIDTH = 92
const GAP = 8
const TICK_ROOM = 72
const BAR_MIN = 2
const PLOT_MIN = 60
const STATUSES_MAX = 20
/** A task can be tried a thousand times; the last tries say most. */
export const ATTEMPTS_MAX = 20
const STATE_CELLS_MAX = 14
const REASON_CELLS_MAX = 300

/** @param now the present time. A clock that is behind the service's makes nothing shorter than it was. */
export function timelineLayout(data: TimelineData, { width, now }: { width: number; now: number }): TimelineLayout {
  const statuses = data.statuses.slice(-STATUSES_MAX)
  const attempts = data.attempts.slice(-ATTEMPTS_MAX)
  const begin = Math.min(...statuses.map(({ at }) => at), ...attempts.map(({ startedAt }) => startedAt), Infinity)
  const plotX = LABEL_WIDTH + GAP
  const plotWidth = Math.max(PLOT_MIN, width - plotX - VALUE_WIDTH - GAP)
  const height = ROW * (statuses.length + attempts.length)
  const plot = { x: plotX, width: plotWidth, height }
  const attemptsNotShown = data.attempts.length - attempts.length
  if (begin === Infinity)
    return {
      width,
      height: AXIS,
      plot,
      ticks: [],
      rows: [],
      attemptsNotShown,
      caption: '',
      description: 'Nothing yet.'
    }

  const known = [
    ...statuses.map(({ at }) => at),
    ...attempts.flatMap(({ startedAt, endedAt, backoffMs }) => [
      startedAt,
      endedAt === null ? startedAt : endedAt + (data.isOver ? 0 : (backoffMs ?? 0))
    ])
  ]
  const present = data.isOver ? Math.max(...known) : Math.max(now, ...statuses.map(({ at }) => at))
  const end = Math.max(present, ...known, begin + 1)
  const scale = plotWidth / (end - begin)
  const span = (from: number, to: number) => {
    const x = plotX + (from - begin) * scale
    const length = Math.max(BAR_MIN, (Math.max(to, from) - from) * scale)
    // The shortest bar at the right end stays within the plot.
    return {
      x: Math.min(x, plotX + plotWidth - BAR_MIN),
      width: Math.min(length, plotX + plotWidth - Math.min(x, plotX + plotWidth - BAR_MIN))
    }
  }

  const rows: PlacedSpan[] = []
  const add = (row: Omit<PlacedSpan, 'y' | 'value'>, value: string) =>
    rows.push({ ...row, y: rows.length * ROW, value: { x: width, text: value } })
  for (const [index, { status, at, reason }] of statuses.entries()) {
    const next = statuses[index + 1]
    const isFinal = !next && data.isOver
    const to = next?.at ?? present
    const label = clipped(status, STATE_CELLS_MAX)
    const lasted = isFinal ? '' : durationText(to - at)
    const why = reason ? `: ${clipped(reason, REASON_CELLS_MAX)}` : ''
    add(
      {
        kind: 'status',
        state: status,
        label,
        bar: isFinal ? null : span(at, to),
        moment: isFinal ? { x: plotX + (at - begin) * scale } : null,
        pause: null,
        title: `${label} from ${clockText(at)}${isFinal ? '' : `, ${lasted}${next ? '' : ' so far'}`}${why}`
      },
      lasted
    )
  }
  for (const [index, { number, state, startedAt, endedAt, backoffMs }] of attempts.entries()) {
    const to = endedAt ?? present
    const next = attempts[index + 1]
    const pauseEnd = endedAt === null || !backoffMs ? null : Math.min(next?.startedAt ?? Infinity, endedAt + backoffMs)
    const lasted = durationText(to - startedAt)
    const pauseText = pauseEnd === null ? '' : `, then a pause of ${durationText(backoffMs!)}`
    add(
      {
        kind: 'attempt',
        state,
        label: `attempt ${number}`,
        bar: span(startedAt, to),
        moment: null,
        pause: pauseEnd === null ? null : span(endedAt!, data.isOver ? Math.min(pauseEnd, end) : pauseEnd),
        title: `attempt ${number} ${clipped(state, STATE_CELLS_MAX)}, ${lasted}${endedAt === null ? ' so far' : ''}${pauseText}`
      },
      lasted
    )
  }
  const ticks = timeTicks(end - begin, Math.max(1, Math.floor(plotWidth / TICK_ROOM))).map((tick) => ({
    ...tick,
    x: plotX + tick.after * scale
  }))
  const caption = `From ${clockText(begin)}; ${durationText(present - begin)} ${data.isOver ? 'in all' : 'so far'}.`
  return {
    width,
    height: height + AXIS,
    plot,
    ticks,
    rows,
    attemptsNotShown,
    caption,
    description: `${caption} ${rows.map(({ title }) => title).join('. ')}.`
  }
}
