// A job of any team: what an operator needs to know of it. Its program, parameters and result are the team's.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { api, bodyOf } from '../../api/client.js'
import { Fact, Facts } from '../../components/facts.js'
import layout from '../../components/layout.module.css'
import { Loading, Notice, Refusal } from '../../components/notice.js'
import { Table, Wide } from '../../components/table.js'
import { shortId, Time, usd } from '../../components/text.js'
import { Status } from '../../jobs/status.js'
import { usePageTitle } from '../../shell/page-title.js'
import { type AnyJobRecord, anyJobQuery, readAgain } from '../admin-queries.js'
import { Settle } from '../money/settle.js'
import { WriteDialog } from '../write-dialog.js'

const route = getRouteApi('/administrators/admin/jobs/$id')

export function AnyJobPage() {
  const { id } = route.useParams()
  const { data: job, error } = useQuery(anyJobQuery(id))
  usePageTitle(job?.name ?? `Job ${shortId(id)}`)
  if (!job) return error ? <Refusal error={error} /> : <Loading />
  return (
    <>
      <div className={layout.bar}>
        <h1>{job.name ?? `Job ${shortId(id)}`}</h1>
        <Status status={job.status} />
      </div>
      <Actions job={job} />
      {job.queue ? <Notice>Waiting: {job.queue.message}</Notice> : null}
      {job.error ? (
        <Notice tone="bad">
          {job.error.message} <code>{job.error.code}</code>
        </Notice>
      ) : null}
      <Record job={job} />
      <ProviderJobs job={job} />
    </>
  )
}

const refusal = (may: true | string): string | null => (may === true ? null : may)

function Actions({ job: { id, can, held_usd } }: { job: AnyJobRecord }) {
  const queryClient = useQueryClient()
  return (
    <div className={layout.bar}>
      <WriteDialog
        action="Cancel the job"
        kind="danger"
        why={refusal(can.cancel)}
        fields={[]}
        send={(_, header) =>
          bodyOf(api.POST('/api/admin/jobs/{id}/cancel', { params: { path: { id }, header }, parseAs: 'text' }))
        }
        onDone={() => readAgain(queryClient)}
      >
        <p>What runs of it is stopped. The team sees that it was cancelled; the action is recorded.</p>
      </WriteDialog>
      <Settle jobId={id} heldUsd={held_usd} why={refusal(can.settle)} />
    </div>
  )
}

function Record({ job }: { job: AnyJobRecord }) {
  const { workflow } = job
  return (
    <Facts>
      <Fact name="Id">
        <code>{job.id}</code>
      </Fact>
      <Fact name="Team">
        <Link to="/admin/teams/$id" params={{ id: job.team_id }}>
          {job.team_name}
        </Link>
      </Fact>
      <Fact name="Submitted by">{job.user_email ?? 'a user who was deleted'}</Fact>
      <Fact name="Backend">
        {job.backend} ({job.provider})
      </Fact>
      <Fact name="Cost">
        {usd(job.actual_cost_usd)} ({usd(job.estimated_cost_usd)} estimated)
      </Fact>
      {job.held_usd === null ? null : <Fact name="Held">{usd(job.held_usd)}</Fact>}
      <Fact name="Submitted">
        <Time at={job.created_at} />
      </Fact>
      <Fact name="Started">
        <Time at={job.started_at} />
      </Fact>
      <Fact name="Ended">
        <Time at={job.completed_at} />
      </Fact>
      <Fact name="Mode">
        {job.execution_mode}, {job.attempts} attempts
      </Fact>
      <Fact name="Source">
        {job.source.kind}, SHA-256 <code>{job.source.sha256}</code>
      </Fact>
      {job.status_reason ? <Fact name="Reason">{job.status_reason}</Fact> : null}
      {job.cancel ? (
        <Fact name="Cancelling">
          requested <Time at={job.cancel.requested_at} />, {job.cancel.outcome?.replaceAll('_', ' ') ?? 'under way'}
        </Fact>
      ) : null}
      {workflow ? (
        <Fact name="Workflow">
          {workflow.url ? (
            <a href={workflow.url} target="_blank" rel="noreferrer">
              Open in the Temporal UI
            </a>
          ) : (
            <code>{workflow.id}</code>
          )}
        </Fact>
      ) : null}
    </Facts>
  )
}

function ProviderJobs({ job: { provider_jobs: jobs } }: { job: AnyJobRecord }) {
  if (jobs.length === 0) return null
  return (
    <section className={layout.section} aria-label="Jobs at providers">
      <h2>Jobs at providers</h2>
      <Table label="Jobs at providers" heads={['Provider', 'Id there', 'Status', 'Submitted', 'Cost', 'Note']}>
        {jobs.map((one) => (
          <tr key={`${one.provider_job_id} ${one.submitted_at}`}>
            <td>{one.provider}</td>
            <Wide>{one.provider_job_id ?? '–'}</Wide>
            <td>{one.status}</td>
            <td>
              <Time at={one.submitted_at} />
            </td>
            <td>{usd(one.cost_usd)}</td>
            <td>{one.note ?? ''}</td>
          </tr>
        ))}
      </Table>
    </section>
  )
}
