import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Wide } from '../../components/table.js'
import { Time } from '../../components/text.js'
import { usePageTitle } from '../../shell/page-title.js'
import styles from '../admin.module.css'
import { type AnyTeam, teamsQuery } from '../admin-queries.js'
import { List, SearchForm } from '../searched-list.js'

const route = getRouteApi('/administrators/admin/teams')

export function TeamsPage() {
  usePageTitle('Teams')
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { data, error } = useQuery(teamsQuery(search))
  return (
    <>
      <h1>Teams</h1>
      <SearchForm
        key={search.q}
        label="Id of the team or a member, name, or address of a member"
        q={search.q ?? ''}
        onSearch={(q) => void navigate({ search: q === '' ? {} : { q } })}
      />
      <List
        list={{ data, error }}
        rows={data?.teams ?? []}
        label="Teams"
        heads={['Team', 'Owner', 'Members', 'State', 'Created']}
        row={(team) => (
          <tr key={team.id}>
            <Wide>
              <Link to="/admin/teams/$id" params={{ id: team.id }}>
                {team.name}
              </Link>
            </Wide>
            <Wide>{team.owner?.email ?? '–'}</Wide>
            <td>{team.members}</td>
            <Wide>
              <TeamState team={team} />
            </Wide>
            <td>
              <Time at={team.created_at} />
            </td>
          </tr>
        )}
        noun="team"
        none={{ title: 'No team matches', text: 'Search for something else.' }}
        onPage={(page) => void navigate({ search: { ...search, page } })}
      />
    </>
  )
}

export function TeamState({ team }: { team: AnyTeam }) {
  if (team.deleted_at)
    return (
      <>
        deleted <Time at={team.deleted_at} />
      </>
    )
  if (!team.suspended) return <>active</>
  return (
    <span className={styles.bad}>
      suspended since <Time at={team.suspended_at} />: {team.suspended_reason}
    </span>
  )
}
