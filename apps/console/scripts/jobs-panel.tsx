// The jobs of the team that ran the script, and which version.
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Button } from '../components/button.js'
import { Loading, Refusal } from '../components/notice.js'
import { Table, Wide } from '../components/table.js'
import { shortId, Time } from '../components/text.js'
import { Status } from '../jobs/status.js'
import { useTeam } from '../shell/team.js'
import { scriptJobsQuery } from './script-queries.js'

export function JobsPanel({ id }: { id: string }) {
  const { teamParam } = useTeam()
  const list = useInfiniteQuery(scriptJobsQuery(id, teamParam))
  if (!list.data) return list.error ? <Refusal error={list.error} /> : <Loading />
  const jobs = list.data.pages.flatMap((page) => page.jobs)
  if (jobs.length === 0) return <p>No job of this team has run it.</p>
  return (
    <>
      <Table label="Jobs" heads={['Job', 'Version', 'Status', 'Backend', 'Submitted']}>
        {jobs.map((job) => (
          <tr key={job.id}>
            <Wide>
              <Link to="/jobs/$id" params={{ id: job.id }} preload={false}>
                {job.name ?? shortId(job.id)}
              </Link>
            </Wide>
            <td>{job.source.script_version ?? '–'}</td>
            <td>
              <Status status={job.status} />
            </td>
            <td>{job.backend}</td>
            <td>
              <Time at={job.created_at} />
            </td>
          </tr>
        ))}
      </Table>
      {list.hasNextPage ? (
        <p>
          <Button onPress={() => void list.fetchNextPage()} isDisabled={list.isFetchingNextPage}>
            Show older jobs
          </Button>
        </p>
      ) : null}
    </>
  )
}
