// A run in this browser beside a job.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { api, bodyOf, fetchPart } from '../../../api/client.js'
import { backendsQuery } from '../../../api/queries.js'
import { Loading, Notice, Refusal } from '../../../components/notice.js'
import { Table, Wide } from '../../../components/table.js'
import { shortId, Time } from '../../../components/text.js'
import { useTeam } from '../../../shell/team.js'
import { jobQuery } from '../../record/job-queries.js'
import type { JobRecord } from '../../record/job-record.js'
import { BROWSER } from '../compare-search.js'
import { Comparison } from '../comparison.js'
import type { BrowserSide, JobSide } from './browser-comparison.js'
import { useBrowserRun } from './browser-side.js'
import { compareInWorker } from './compare-in-worker.js'

export function ComparedWithBrowser({ b, margin }: { b: string | undefined; margin: number | undefined }) {
  const run = useBrowserRun()
  if (run === undefined) return <Loading />
  if (run === null)
    return (
      <Notice tone="warn">
        The run in this browser is gone: it is kept until the page is loaded again or you sign out. Run the program
        again <Link to="/run">in the playground</Link>, or from the page of the job.
      </Notice>
    )
  return (
    <>
      <p>The first is {run.where}.</p>
      {b === undefined ? <CompletedJobs margin={margin} /> : <Compared run={run} id={b} margin={margin} />}
    </>
  )
}

function Compared({ run, id, margin }: { run: BrowserSide & { id: string }; id: string; margin: number | undefined }) {
  const queryClient = useQueryClient()
  const job = useQuery(jobQuery(id))
  const record = job.data?.record
  const comparison = useQuery({
    queryKey: ['comparison', run.id, id, margin ?? null],
    staleTime: Number.POSITIVE_INFINITY,
    enabled: record?.status === 'completed',
    queryFn: async ({ signal }) => {
      const { backends } = await queryClient.ensureQueryData(backendsQuery)
      const isHardware = backends.some(({ slug, deviceType }) => slug === record!.backend && deviceType === 'qpu')
      const response = await fetchPart(`/api/jobs/${encodeURIComponent(id)}/result`, signal)
      const asked = { run, job: sideOf(record!, await response.text(), isHardware), margin: margin ?? null }
      return compareInWorker(asked, signal)
    }
  })
  const name = record?.name ?? `Job ${shortId(id)}`
  const names = useMemo(() => ({ a: 'This browser', b: name }), [name])
  return (
    <>
      <p>
        The second is{' '}
        <Link to="/jobs/$id" params={{ id }}>
          {name}
        </Link>
        .
      </p>
      {comparison.data ? (
        <Comparison comparison={comparison.data} names={names} />
      ) : record && record.status !== 'completed' ? (
        <Notice tone="warn">The second must be a completed job (it is {record.status}).</Notice>
      ) : (job.error ?? comparison.error) ? (
        <Refusal error={job.error ?? comparison.error} />
      ) : (
        <Loading />
      )}
    </>
  )
}

const sideOf = (
  { id, backend, provider_jobs, completed_at }: JobRecord,
  result: string,
  hardware: boolean
): JobSide => ({
  id,
  backend,
  result,
  facts: { hardware, local: provider_jobs.length === 0, completedAt: completed_at }
})

/** The newest completed jobs of the team, to choose one of. */
function CompletedJobs({ margin }: { margin: number | undefined }) {
  const { teamParam } = useTeam()
  const { data, error } = useQuery({
    queryKey: ['completed jobs', teamParam],
    queryFn: ({ signal }) =>
      bodyOf(api.GET('/api/jobs', { params: { query: { ...teamParam, status: 'completed', limit: 20 } }, signal }))
  })
  if (!data) return error ? <Refusal error={error} /> : <Loading />
  if (data.jobs.length === 0) return <p>The team has no completed job yet. Submit the program as a job first.</p>
  return (
    <section aria-label="Completed jobs">
      <h2>Compare with</h2>
      <Table label="Completed jobs to choose from" heads={['Job', 'Backend', 'Framework', 'Submitted']}>
        {data.jobs.map(({ id, name, backend, framework, created_at }) => (
          <tr key={id}>
            <Wide>
              <Link to="/jobs/compare" search={{ a: BROWSER, b: id, ...(margin !== undefined && { margin }) }}>
                {name ?? shortId(id)}
              </Link>
            </Wide>
            <td>{backend}</td>
            <td>{framework ?? '–'}</td>
            <td>
              <Time at={created_at} />
            </td>
          </tr>
        ))}
      </Table>
    </section>
  )
}
