// The runs of a capsule with their jobs and money, and the report of the one that the address names.
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import type { components } from '../../api/schema.js'
import { Loading, Notice, Refusal } from '../../components/notice.js'
import { Pager } from '../../components/pager.js'
import { Table, Wide } from '../../components/table.js'
import { Time, usd } from '../../components/text.js'
import { VerdictBadge } from '../badges.js'
import { runQuery, runsQuery } from '../record/capsule-queries.js'
import type { ReadCapsule } from '../record/capsule-record.js'
import { wordsOf } from '../words.js'

const Report = lazy(() => import('../verification/report.js').then(({ Report: report }) => ({ default: report })))

type Run = components['schemas']['CapsuleRun']

const route = getRouteApi('/signed-in/capsules/$id')

export function Runs({ capsule }: { capsule: ReadCapsule }) {
  const { id } = capsule.record
  const { page = 1, run } = route.useSearch()
  const navigate = route.useNavigate()
  const runs = useQuery({ ...runsQuery(id, page), placeholderData: keepPreviousData })
  if (runs.error) return <Refusal error={runs.error} />
  if (!runs.data) return <Loading />
  return (
    <>
      {run === undefined ? null : <OpenRun key={run} capsule={capsule} runId={run} />}
      {runs.data.runs.length === 0 ? <p>This capsule has not run yet.</p> : <RunTable id={id} runs={runs.data.runs} />}
      {runs.data.total > 0 ? (
        <Pager
          end={runs.data}
          rows={runs.data.runs.length}
          noun="run"
          onPage={(next) => void navigate({ search: (search) => ({ ...search, page: next }), resetScroll: false })}
        />
      ) : null}
    </>
  )
}

const RunTable = ({ id, runs }: { id: string; runs: readonly Run[] }) => (
  <Table label="Runs" heads={['Started', 'Kind', 'Status', 'Verdict', 'Jobs', 'Cost']}>
    {runs.map((run) => (
      <tr key={run.id}>
        <td>
          <Link
            to="/capsules/$id"
            params={{ id }}
            search={(search) => ({ ...search, tab: 'runs' as const, run: run.id })}
            resetScroll={false}
          >
            <Time at={run.created_at} />
          </Link>
        </td>
        <td>
          {run.mode}, {wordsOf(run.trigger)}
        </td>
        <Wide>
          {run.status}
          {run.reason === null ? '' : `: ${run.reason}`}
        </Wide>
        <td>{run.verdict === null ? '–' : <VerdictBadge verdict={run.verdict} />}</td>
        <Wide>
          {run.tasks.map((task) => (
            <div key={task.job_id}>
              <Link to="/jobs/$id" params={{ id: task.job_id }}>
                {task.name}
              </Link>{' '}
              {task.status} on {task.backend}
            </div>
          ))}
        </Wide>
        <td>
          {run.actual_cost_usd === null
            ? `${usd(run.estimated_cost_usd)} estimated`
            : `${usd(run.actual_cost_usd)} (${usd(run.estimated_cost_usd)} estimated)`}
        </td>
      </tr>
    ))}
  </Table>
)

function OpenRun({ capsule, runId }: { capsule: ReadCapsule; runId: string }) {
  const run = useQuery(runQuery(capsule.record.id, runId))
  if (run.error) return <Refusal error={run.error} />
  if (!run.data) return <Loading />
  return (
    <section aria-label="The chosen run">
      <h2>
        Run of <Time at={run.data.created_at} />: {run.data.status}
      </h2>
      {run.data.reason === null ? null : <Notice tone="bad">{run.data.reason}</Notice>}
      {run.data.verification === null ? (
        <RunState run={run.data} />
      ) : (
        <Suspense fallback={<Loading />}>
          <Report capsule={capsule} run={run.data} />
        </Suspense>
      )}
    </section>
  )
}

const RunState = ({ run: { mode, status, tasks } }: { run: Run }) => (
  <p role="status">
    {tasks.filter((task) => task.status === 'completed').length} of {tasks.length} jobs completed
    {mode === 'verify' && status === 'judging' ? '; the counts are being compared' : ''}.
  </p>
)
