// What platform administrators did, newest first.
import { infiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { api, bodyOf } from '../api/client.js'
import { TrailFilterForm } from '../audit/trail-filter-form.js'
import { Button } from '../components/button.js'
import layout from '../components/layout.module.css'
import { Empty, Loading, Refusal } from '../components/notice.js'
import { Table, Wide } from '../components/table.js'
import { Time } from '../components/text.js'
import { usePageTitle } from '../shell/page-title.js'
import { type AdminAction, LISTED } from './admin-queries.js'

const actions = {
  'access_code.create': 'made an access code',
  'backend.change': 'changed a backend',
  'capsule.takedown': 'took a capsule down',
  'job.cancel': 'cancelled a job',
  'job.settle': 'settled held money',
  'signing_key.rotate': 'rotated the signing key',
  'team.budget': 'changed a budget',
  'team.limits': 'changed limits',
  'team.storage': 'changed storage',
  'team.suspend': 'suspended a team',
  'team.unsuspend': 'lifted a suspension',
  'user.grant': 'made an administrator'
} as const satisfies Record<AdminAction, string>

interface Filters {
  action?: string
  from?: string
  to?: string
}

/** The address can hold an action that does not exist: the service says so. */
const entriesQuery = ({ action, ...times }: Filters) =>
  infiniteQueryOptions({
    queryKey: ['admin', 'audit', { action, ...times }],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }: { pageParam: string | null; signal: AbortSignal }) => {
      const query = {
        limit: LISTED,
        ...times,
        ...(action !== undefined && { action: action as AdminAction }),
        ...(pageParam !== null && { cursor: pageParam })
      }
      return bodyOf(api.GET('/api/admin/audit', { params: { query }, signal }))
    },
    getNextPageParam: ({ next_cursor }) => next_cursor
  })

const route = getRouteApi('/administrators/admin/audit')

export function AdminAuditPage() {
  usePageTitle('Actions of administrators')
  const filters = route.useSearch()
  const navigate = route.useNavigate()
  const { data, error, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(entriesQuery(filters))
  const entries = data?.pages.flatMap(({ entries }) => entries) ?? []
  return (
    <>
      <h1>Actions of administrators</h1>
      <TrailFilterForm actions={actions} filters={filters} onChange={(search) => void navigate({ search })} />
      <Refusal error={error} />
      {data ? null : error ? null : <Loading />}
      {data && entries.length === 0 ? (
        <Empty title="No action matches">
          <p>Choose another action or another time.</p>
        </Empty>
      ) : null}
      {entries.length > 0 ? (
        <Table label="Actions" heads={['When', 'Who', 'Action', 'Of what', 'Details']}>
          {entries.map(({ id, at, actor, action, target, details }) => (
            <tr key={id}>
              <td>
                <Time at={at} />
              </td>
              <Wide>
                {actor.email}
                {actor.id === null ? <div className={layout.quiet}>at the command line</div> : null}
              </Wide>
              <td>
                {actions[action]} <code>{action}</code>
              </td>
              <Wide>{target}</Wide>
              <Wide>
                {Object.entries(details).map(([name, value]) => (
                  <div key={name}>
                    {name.replaceAll('_', ' ')}: {typeof value === 'string' ? value : JSON.stringify(value)}
                  </div>
                ))}
              </Wide>
            </tr>
          ))}
        </Table>
      ) : null}
      {hasNextPage ? (
        <Button onPress={() => void fetchNextPage()} isDisabled={isFetchingNextPage}>
          Show older actions
        </Button>
      ) : null}
    </>
  )
}
