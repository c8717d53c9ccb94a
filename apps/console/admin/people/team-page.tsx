// One team: its state, its money, and what it can use at once.

import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { api, bodyOf } from '../../api/client.js'
import { Fact, Facts } from '../../components/facts.js'
import layout from '../../components/layout.module.css'
import { limitsOf } from '../../components/limits/limits.js'
import { Loading, Refusal } from '../../components/notice.js'
import { Time } from '../../components/text.js'
import { NoPage } from '../../shell/no-page.js'
import { usePageTitle } from '../../shell/page-title.js'
import { type AnyTeam, readAgain, teamQuery } from '../admin-queries.js'
import { WriteDialog } from '../write-dialog.js'
import { WriteForm } from '../write-form.js'
import { TeamBudget } from './team-budget.js'
import { TeamLimits, TeamStorage } from './team-limits.js'
import { TeamState } from './teams-page.js'

const route = getRouteApi('/administrators/admin/teams/$id')

export function TeamPage() {
  const { id } = route.useParams()
  const { data: team, error } = useQuery(teamQuery(id))
  usePageTitle(team?.name ?? 'Team')
  if (team === undefined) return error ? <Refusal error={error} /> : <Loading />
  if (team === null) return <NoPage />
  return (
    <>
      <h1>{team.name}</h1>
      <Facts>
        <Fact name="Id">
          <code>{team.id}</code>
        </Fact>
        <Fact name="State">
          <TeamState team={team} />
        </Fact>
        <Fact name="Owner">
          {team.owner ? (
            <Link to="/admin/users" search={{ q: team.owner.id }}>
              {team.owner.email}
            </Link>
          ) : (
            '–'
          )}
        </Fact>
        <Fact name="Members">
          <Link to="/admin/users" search={{ q: team.id }}>
            {team.members}
          </Link>
        </Fact>
        <Fact name="Jobs">
          <Link to="/admin/jobs" search={{ q: team.id }}>
            The jobs of this team
          </Link>
        </Fact>
        <Fact name="Created">
          <Time at={team.created_at} />
        </Fact>
      </Facts>
      {team.deleted_at ? (
        <p className={layout.quiet}>A team that was deleted cannot be changed any more.</p>
      ) : (
        <>
          <Suspension team={team} />
          <TeamBudget teamId={team.id} />
          <TeamLimits team={team} />
          <TeamStorage teamId={team.id} />
        </>
      )}
    </>
  )
}

function Suspension({ team: { id, suspended, suspended_reason } }: { team: AnyTeam }) {
  const queryClient = useQueryClient()
  const path = { id }
  const suspend = (
    <WriteDialog
      action={suspended ? 'Change the reason' : 'Suspend'}
      title={suspended ? 'Change the reason' : 'Suspend the team'}
      kind="danger"
      fields={[
        {
          name: 'reason',
          label: 'Reason, which the team reads',
          kind: 'area',
          start: suspended_reason ?? '',
          limits: limitsOf('adminSuspendTeam', 'reason')
        }
      ]}
      send={(body, header) => bodyOf(api.POST('/api/admin/teams/{id}/suspend', { params: { path, header }, body }))}
      onDone={() => readAgain(queryClient)}
    >
      <p>The team can then be read only. Its running jobs continue.</p>
    </WriteDialog>
  )
  return (
    <section className={layout.bar} aria-label="Suspension">
      {suspend}
      {suspended ? (
        <WriteForm
          fields={[]}
          button="Lift the suspension"
          send={(_, header) => bodyOf(api.POST('/api/admin/teams/{id}/unsuspend', { params: { path, header } }))}
          onDone={() => readAgain(queryClient)}
        />
      ) : null}
    </section>
  )
}
