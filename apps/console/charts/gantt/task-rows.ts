// Which tasks of a graph get a row. A graph of up to 60 tasks is drawn whole; of a larger one the tasks that matter:
// failed, running and slowest. All tasks are drawn on demand.

export type TaskState = 'pending' | 'running' | 'completed' | 'failed' | 'cancelled' | 'skipped'

export interface GanttTask {
  id: string
  key: string
  name: string
  state: TaskState
  /** Ids of tasks. */
  dependsOn: readonly string[]
  /** Milliseconds since the epoch, like all times here. */
  startedAt: number | null
  endedAt: number | null
}

export interface TaskSection {
  /** `null` where all tasks are shown. */
  heading: string | null
  tasks: readonly GanttTask[]
}

/** More tasks than this are summarised, unless all are wanted. */
export const ROWS_MAX = 60
const SECTION_ROWS_MAX = 20
const SLOWEST_ROWS = 10

const stateOrder: readonly TaskState[] = ['completed', 'running', 'failed', 'cancelled', 'skipped', 'pending']

export function taskSections(tasks: readonly GanttTask[], now: number, all: boolean): TaskSection[] {
  if (all || tasks.length <= ROWS_MAX) return [{ heading: null, tasks }]
  const failed = tasks.filter(({ state }) => state === 'failed')
  const running = tasks.filter(({ state }) => state === 'running')
  const slowest = tasks
    .filter(({ state }) => state === 'completed')
    .map((task) => ({ task, lasted: lastedOf(task, now) }))
    .sort((one, other) => other.lasted - one.lasted)
    .map(({ task }) => task)
  return [
    ...section('Failed', failed, SECTION_ROWS_MAX),
    ...section('Running', running, SECTION_ROWS_MAX),
    ...section('Slowest', slowest, SLOWEST_ROWS)
  ]
}

function section(heading: string, tasks: readonly GanttTask[], most: number): TaskSection[] {
  if (tasks.length === 0) return []
  const shown = tasks.slice(0, most)
  return [{ heading: tasks.length > most ? `${heading} (${most} of ${tasks.length})` : heading, tasks: shown }]
}

/** `12 tasks: 9 completed, 1 running, 2 pending` */
export function taskCountsText(tasks: readonly GanttTask[]): string {
  const counts = new Map<TaskState, number>()
  for (const { state } of tasks) counts.set(state, (counts.get(state) ?? 0) + 1)
  const named = stateOrder.flatMap((state) => (counts.has(state) ? [`${counts.get(state)} ${state}`] : []))
  return `${tasks.length} ${tasks.length === 1 ? 'task' : 'tasks'}: ${named.join(', ')}`
}

/** The end of a task that has started, never before its start: a browser's clock can be behind the service's. */
export const endOf = ({ startedAt, endedAt }: GanttTask, now: number): number =>
  endedAt ?? Math.max(now, startedAt ?? now)

export const lastedOf = (task: GanttTask, now: number): number =>
  task.startedAt === null ? 0 : endOf(task, now) - task.startedAt

/** `task_0012` becomes 12, in a script's second graph `2.12`; any other key stays as it is. */
export function shortKey(key: string): string {
  const [, graph = '', number] = /^(\d+\.)?task_(\d{1,9})$/.exec(key) ?? []
  return number === undefined ? key : graph + Number(number)
}

/**
 * The tasks that decided when the graph ended: the one that ended last, before it the one of its dependencies that ended
 * last, and so on.
 */
export function criticalPath(tasks: readonly GanttTask[], now: number): ReadonlySet<string> {
  const started = tasks.filter(({ startedAt }) => startedAt !== null)
  const byId = new Map(started.map((task) => [task.id, task]))
  const last = (candidates: readonly GanttTask[]) =>
    candidates.reduce<GanttTask | null>(
      (latest, task) => (latest === null || endOf(task, now) > endOf(latest, now) ? task : latest),
      null
    )
  const path = new Set<string>()
  // A service that answered with a circle must not make this endless.
  for (let task = last(started); task !== null && !path.has(task.id); ) {
    path.add(task.id)
    task = last(task.dependsOn.flatMap((id) => byId.get(id) ?? []))
  }
  return path
}
