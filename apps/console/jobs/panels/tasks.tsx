// The tasks of a job: a graph as a Gantt chart with a table of the same, a plain job's only task as the table alone.
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import type { Attempt, Task } from '../../api/client.js'
import { Gantt } from '../../charts/gantt/gantt.js'
import type { GanttData } from '../../charts/gantt/gantt-layout.js'
import { useNow } from '../../charts/use-now.js'
import { Loading, Refusal } from '../../components/notice.js'
import { Table, Wide } from '../../components/table.js'
import { duration, Time } from '../../components/text.js'
import { numbered } from '../../text/exact-numbers.js'
import { attemptsQuery, tasksQuery } from '../record/job-queries.js'

const ROWS_MAX = 500

export function Tasks({ id, ended }: { id: string; ended: boolean }) {
  const tasks = useQuery(tasksQuery(id))
  const attempts = useQuery(attemptsQuery(id))
  if (!tasks.data) return tasks.error ? <Refusal error={tasks.error} /> : <Loading />
  // A plain job's only task has the id of the job.
  const isGraph = tasks.data.some((task) => task.id !== id)
  if (!isGraph) return <TaskTable tasks={tasks.data} />
  return <Graph tasks={tasks.data} attempts={attempts.data ?? []} ended={ended} />
}

function Graph({ tasks, attempts, ended }: { tasks: readonly Task[]; attempts: readonly Attempt[]; ended: boolean }) {
  const data = useMemo(() => ganttData(tasks, attempts), [tasks, attempts])
  const now = useNow(!ended)
  const [open, setOpen] = useState(false)
  return (
    <>
      <Gantt data={data} now={now} title="Task graph" />
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>The same as a table</summary>
        {open ? <TaskTable tasks={tasks} /> : null}
      </details>
    </>
  )
}

const instant = (time: string | null): number | null => (time === null ? null : Date.parse(time))

const ganttData = (tasks: readonly Task[], attempts: readonly Attempt[]): GanttData => ({
  tasks: tasks.map(({ id, key, name, state, depends_on, started_at, completed_at }) => ({
    id,
    key,
    name,
    state,
    dependsOn: depends_on,
    startedAt: instant(started_at),
    endedAt: instant(completed_at)
  })),
  attempts: attempts.map(({ task, number, state, started_at, ended_at }) => ({
    taskId: task,
    number,
    state,
    startedAt: Date.parse(started_at),
    endedAt: instant(ended_at)
  }))
})

function TaskTable({ tasks }: { tasks: readonly Task[] }) {
  return (
    <>
      <Table label="All tasks" heads={['Task', 'State', 'After', 'Attempts', 'Started', 'Took', 'Fault']}>
        {tasks.slice(0, ROWS_MAX).map((task) => (
          <tr key={task.id}>
            <Wide>{task.key === task.name ? task.key : `${task.key} ${task.name}`}</Wide>
            <td>{task.state}</td>
            <Wide>{task.depends_on.join(', ') || '–'}</Wide>
            <td>{task.attempts}</td>
            <td>
              <Time at={task.started_at} />
            </td>
            <td>{task.started_at && task.completed_at ? duration(task.started_at, task.completed_at) : '–'}</td>
            <Wide>{task.error?.message ?? ''}</Wide>
          </tr>
        ))}
      </Table>
      {tasks.length > ROWS_MAX ? <p>{numbered(tasks.length - ROWS_MAX, 'more task')} in the API's answer.</p> : null}
    </>
  )
}
