import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import layout from '../../components/layout.module.css'
import { Wide } from '../../components/table.js'
import { Time } from '../../components/text.js'
import { usePageTitle } from '../../shell/page-title.js'
import { usersQuery } from '../admin-queries.js'
import { List, SearchForm } from '../searched-list.js'

const route = getRouteApi('/administrators/admin/users')

export function UsersPage() {
  usePageTitle('Users')
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { data, error } = useQuery(usersQuery(search))
  return (
    <>
      <h1>Users</h1>
      <p className={layout.quiet}>
        To make a user a platform administrator: <code>npx qjob admin grant EMAIL</code> on the machine of the service.
      </p>
      <SearchForm
        key={search.q}
        label="Id of the user or a team, address or name"
        q={search.q ?? ''}
        onSearch={(q) => void navigate({ search: q === '' ? {} : { q } })}
      />
      <List
        list={{ data, error }}
        rows={data?.users ?? []}
        label="Users"
        heads={['Address', 'Name', 'Teams', 'Last seen', 'Created']}
        row={(user) => (
          <tr key={user.id}>
            <Wide>
              {user.email}
              <div className={layout.quiet}>
                {user.email_verified_at ? 'proved' : 'not proved'}
                {user.is_platform_admin ? ', platform administrator' : ''}
              </div>
            </Wide>
            <Wide>
              {user.display_name ?? user.username}
              {user.display_name ? <div className={layout.quiet}>{user.username}</div> : null}
            </Wide>
            <td>
              <Link to="/admin/teams" search={{ q: user.id }}>
                {user.teams}
              </Link>
            </td>
            <td>
              <Time at={user.last_seen_at} />
            </td>
            <td>
              <Time at={user.created_at} />
            </td>
          </tr>
        )}
        noun="user"
        none={{ title: 'No user matches', text: 'Search for something else.' }}
        onPage={(page) => void navigate({ search: { ...search, page } })}
      />
    </>
  )
}
