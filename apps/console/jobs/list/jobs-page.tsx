// The jobs of a team, newest first. The address holds the filters.
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { backendsQuery } from '../../api/queries.js'
import { Button } from '../../components/button.js'
import { Choice, Field } from '../../components/fields.js'
import layout from '../../components/layout.module.css'
import { Empty, Loading, Refusal } from '../../components/notice.js'
import { usePageTitle } from '../../shell/page-title.js'
import { useTeam } from '../../shell/team.js'
import { shownText } from '../../text/list-total.js'
import { jobStatuses, statusText } from '../status.js'
import { SubmitDialog } from '../submit/submit-dialog.js'
import { type JobFilters, readFilters } from './job-filters.js'
import { JobTable } from './job-table.js'
import { useJobList } from './use-job-list.js'

const route = getRouteApi('/signed-in/jobs')

export function JobsPage() {
  const filters = readFilters(route.useSearch() as Record<string, unknown>)
  const { team, teamParam } = useTeam()
  const [submitting, setSubmitting] = useState(false)
  const { list, jobs, see } = useJobList(teamParam, filters)
  // The first page is read again most often, so its total is the newest.
  const first = list.data?.pages[0]
  usePageTitle('Jobs')
  const filtered = Object.keys(filters).length > 0
  return (
    <>
      <div className={layout.bar}>
        <h1>Jobs{team ? ` of ${team.name}` : ''}</h1>
        <Button kind="main" onPress={() => setSubmitting(true)}>
          Submit a job
        </Button>
      </div>
      <Filters filters={filters} />
      <Refusal error={list.error} />
      {list.isPending ? <Loading /> : null}
      {jobs.length > 0 ? <JobTable jobs={jobs} total={first?.total ?? jobs.length} onSee={see} /> : null}
      {first && jobs.length === 0 ? <NoJobs filtered={filtered} submit={() => setSubmitting(true)} /> : null}
      {first && jobs.length > 0 ? (
        <p className={layout.quiet} role="status">
          {shownText(jobs.length, first, 'jobs')}
        </p>
      ) : null}
      {list.hasNextPage ? (
        <p>
          <Button onPress={() => void list.fetchNextPage()} isDisabled={list.isFetchingNextPage}>
            Show older jobs
          </Button>
        </p>
      ) : null}
      {submitting ? <SubmitDialog onClose={() => setSubmitting(false)} /> : null}
    </>
  )
}

function Filters({ filters }: { filters: JobFilters }) {
  const navigate = route.useNavigate()
  const { data: catalogue } = useQuery(backendsQuery)
  const [text, setText] = useState(filters.q ?? '')
  const change = (changes: Partial<Record<keyof JobFilters, string | boolean | undefined>>) =>
    void navigate({
      search: (search: Record<string, unknown>) => {
        const { status, backend, q, mine, ...others } = search
        return { ...others, ...readFilters({ status, backend, q, mine, ...changes }) }
      },
      replace: true
    })
  return (
    <search>
      <form
        className={layout.filters}
        onSubmit={(event) => {
          event.preventDefault()
          change({ q: text })
        }}
      >
        <Field label="Name, label or id" value={text} onChange={setText} onBlur={() => change({ q: text })} />
        <Choice
          label="Status"
          value={filters.status ?? ''}
          options={[
            { value: '', text: 'Any' },
            ...jobStatuses.map((status) => ({ value: status, text: statusText(status) }))
          ]}
          onChange={(status) => change({ status })}
        />
        <Choice
          label="Backend"
          value={filters.backend ?? ''}
          options={[
            { value: '', text: 'Any' },
            ...(catalogue?.backends ?? []).map(({ slug, name }) => ({ value: slug, text: name }))
          ]}
          onChange={(backend) => change({ backend })}
        />
        <Choice
          label="Submitted by"
          value={filters.mine ? 'mine' : ''}
          options={[
            { value: '', text: 'Everyone' },
            { value: 'mine', text: 'Me' }
          ]}
          onChange={(value) => change({ mine: value === 'mine' })}
        />
      </form>
    </search>
  )
}

function NoJobs({ filtered, submit }: { filtered: boolean; submit: () => void }) {
  if (filtered)
    return (
      <Empty title="No job matches these filters">
        <p>Choose others above.</p>
      </Empty>
    )
  return (
    <Empty title="There is no job yet">
      <p>Submit a circuit here, or from the project folder:</p>
      <pre>npx qjob submit examples/bell.qasm --wait</pre>
      <Button kind="main" onPress={submit}>
        Submit a first job
      </Button>
    </Empty>
  )
}
