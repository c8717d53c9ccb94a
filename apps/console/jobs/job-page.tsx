// One job: what it is, why it waits, what happened, and what came out.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useEffect, useMemo } from 'react'
import { Timeline } from '../charts/timeline/timeline.js'
import { useNow } from '../charts/use-now.js'
import layout from '../components/layout.module.css'
import { Loading, Notice, Refusal } from '../components/notice.js'
import { Parts } from '../components/parts.js'
import { shortId } from '../components/text.js'
import { onTeamEvent } from '../live/team-events.js'
import { isVisible } from '../live/use-visible.js'
import { SaveAsScript } from '../scripts/save-job.js'
import { usePageTitle } from '../shell/page-title.js'
import { JobActions } from './job-actions.js'
import { JobFacts } from './job-facts.js'
import { type JobTab, jobTabs } from './job-tabs.js'
import { CircuitPanel } from './panels/circuit.js'
import { Output } from './panels/output.js'
import { Artifacts, Attempts, Source } from './panels/parts.js'
import { Result } from './panels/result.js'
import { Tasks } from './panels/tasks.js'
import type { JobEvent } from './record/job-event.js'
import { jobQuery } from './record/job-queries.js'
import type { ReadJob } from './record/job-record.js'
import { useJobEvents } from './record/job-stream.js'
import { timelineData } from './record/timeline-data.js'
import { Status, statusText } from './status.js'

const route = getRouteApi('/signed-in/jobs/$id')

export function JobPage() {
  const { id } = route.useParams()
  const job = useQuery(jobQuery(id))
  if (job.isPending) return <Loading />
  if (!job.data) return <Refusal error={job.error} />
  return <JobView key={id} id={id} job={job.data} />
}

function JobView({ id, job }: { id: string; job: ReadJob }) {
  const queryClient = useQueryClient()
  const { record } = job
  const name = record.name ?? `Job ${shortId(id)}`
  // With how far it is, so that a tab in the background tells.
  usePageTitle(`${progressText(job)} · ${name}`)
  const events = useJobEvents(id, { ended: record.completed_at !== null, readAt: job.readAt }, () => {
    void queryClient.invalidateQueries({ queryKey: ['job', id] })
  })
  useStatusOf(id)
  return (
    <>
      <div className={layout.bar}>
        <h1>{name}</h1>
        <Status status={record.status} />
      </div>
      <JobActions job={job} />
      <SaveAsScript id={id} name={record.name} kind={record.source.kind} may={record.can?.save_script} />
      <Messages job={job} />
      <JobFacts record={record} />
      <TimelineSection events={events} isOver={record.completed_at !== null} />
      <Panels id={id} job={job} events={events} />
    </>
  )
}

/** A hidden page has no stream of its job; that of the teams tells it the status, and it reads the rest when it is seen. */
function useStatusOf(id: string): void {
  const queryClient = useQueryClient()
  useEffect(
    () =>
      onTeamEvent((event) => {
        if (event.type !== 'job' || event.job_id !== id || isVisible()) return
        const { status, queue } = event
        queryClient.setQueryData(
          jobQuery(id).queryKey,
          (known) => known && { ...known, record: { ...known.record, status, queue } }
        )
        void queryClient.invalidateQueries({ queryKey: ['job', id], refetchType: 'none' })
      }),
    [id, queryClient]
  )
}

function TimelineSection({ events, isOver }: { events: readonly JobEvent[]; isOver: boolean }) {
  const data = useMemo(() => timelineData(events, isOver), [events, isOver])
  const now = useNow(!isOver)
  if (data.statuses.length === 0) return null
  return (
    <section aria-label="Timeline">
      <h2>Timeline</h2>
      <Timeline data={data} now={now} title="Statuses and attempts" />
    </section>
  )
}

function progressText({ record: { status, progress } }: ReadJob): string {
  if (!progress || progress.points_done === progress.points_total) return statusText(status)
  return `${progress.points_done} of ${progress.points_total}`
}

function Messages({ job: { record } }: { job: ReadJob }) {
  const { queue, error, cancel, progress, emulated } = record
  return (
    <>
      {queue ? (
        <Notice>
          Waiting: {queue.message}
          {queue.position === null ? '' : ` (position ${queue.position})`}
        </Notice>
      ) : null}
      {error ? (
        <Notice tone="bad">
          {error.message} <code>{error.code}</code>
        </Notice>
      ) : null}
      {cancel ? (
        <Notice>
          Cancelling was requested{cancel.outcome ? `; outcome: ${cancel.outcome.replaceAll('_', ' ')}` : ''}.
        </Notice>
      ) : null}
      {progress ? (
        <Notice>
          {progress.points_done} of {progress.points_total} points are done
          {progress.points_failed > 0 ? `, ${progress.points_failed} of them failed` : ''}.
        </Notice>
      ) : null}
      {emulated ? <Notice>An emulator ran this job in the place of its provider.</Notice> : null}
    </>
  )
}

function Panels({ id, job, events }: { id: string; job: ReadJob; events: readonly JobEvent[] }) {
  const { tab = 'result' } = route.useSearch()
  const navigate = route.useNavigate()
  const ended = job.record.completed_at !== null
  const panels = {
    result: <Result id={id} job={job} />,
    output: <Output events={events} />,
    attempts: <Attempts id={id} />,
    circuit: <CircuitPanel id={id} ended={ended} />,
    tasks: <Tasks id={id} ended={ended} />,
    source: <Source id={id} params={job.params} />,
    artifacts: <Artifacts id={id} />
  }
  const select = (part: JobTab) =>
    void navigate({ search: (search) => ({ ...search, tab: part }), replace: true, resetScroll: false })
  return <Parts label="Parts of the job" texts={jobTabs} panels={panels} shown={tab} onShow={select} />
}
