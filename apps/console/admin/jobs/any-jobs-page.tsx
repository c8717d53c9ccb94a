// The jobs of all teams.
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Choice } from '../../components/fields.js'
import layout from '../../components/layout.module.css'
import { Wide } from '../../components/table.js'
import { shortId, Time, usd } from '../../components/text.js'
import { jobStatuses, Status, statusText } from '../../jobs/status.js'
import { usePageTitle } from '../../shell/page-title.js'
import { anyJobsQuery } from '../admin-queries.js'
import { List, SearchForm } from '../searched-list.js'

const route = getRouteApi('/administrators/admin/jobs')

export function AnyJobsPage() {
  usePageTitle('Jobs of all teams')
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { data, error } = useQuery(anyJobsQuery(search))
  const { q, status } = search
  const show = (change: { q?: string; status?: string }) => {
    const wanted = { q, status, ...change }
    void navigate({ search: { ...(wanted.q && { q: wanted.q }), ...(wanted.status && { status: wanted.status }) } })
  }
  return (
    <>
      <h1>Jobs of all teams</h1>
      <div className={layout.bar}>
        <SearchForm
          key={q}
          label="Id of a job, team or user, name, backend, team or address"
          q={q ?? ''}
          onSearch={(text) => show({ q: text })}
        />
        <Choice
          label="Status"
          value={status ?? ''}
          options={[{ value: '', text: 'Any' }, ...jobStatuses.map((value) => ({ value, text: statusText(value) }))]}
          onChange={(value) => show({ status: value })}
        />
      </div>
      <List
        list={{ data, error }}
        rows={data?.jobs ?? []}
        label="Jobs"
        heads={['Job', 'Team', 'Status', 'Backend', 'Cost', 'Submitted']}
        row={(job) => (
          <tr key={job.id}>
            <Wide>
              <Link to="/admin/jobs/$id" params={{ id: job.id }}>
                {job.name ?? shortId(job.id)}
              </Link>
            </Wide>
            <Wide>
              <Link to="/admin/teams/$id" params={{ id: job.team_id }}>
                {job.team_name}
              </Link>
              <div className={layout.quiet}>{job.user_email ?? 'a user who was deleted'}</div>
            </Wide>
            <td>
              <Status status={job.status} />
            </td>
            <td>{job.backend}</td>
            <td>{job.actual_cost_usd === null ? `${usd(job.estimated_cost_usd)} est.` : usd(job.actual_cost_usd)}</td>
            <td>
              <Time at={job.created_at} />
            </td>
          </tr>
        )}
        noun="job"
        none={{ title: 'No job matches', text: 'Text is searched in the newest jobs; an id finds any.' }}
        onPage={(page) => void navigate({ search: { ...search, page } })}
      />
    </>
  )
}
