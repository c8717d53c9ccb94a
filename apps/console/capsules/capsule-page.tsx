// One capsule: where it stands in its life, what it holds, how it ran, and whether its results still hold.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { lazy, useEffect } from 'react'
import { Fact, Facts } from '../components/facts.js'
import layout from '../components/layout.module.css'
import { Loading, Notice, Refusal } from '../components/notice.js'
import { Parts } from '../components/parts.js'
import { Time, usd } from '../components/text.js'
import { onTeamEvent } from '../live/team-events.js'
import { usePageTitle } from '../shell/page-title.js'
import { membersQuery } from '../team/team-queries.js'
import { shownText } from '../text/shown-text.js'
import { CapsuleActions } from './capsule-actions.js'
import { type CapsuleTab, capsuleTabs } from './capsule-tabs.js'
import own from './capsules.module.css'
import { lifeOf } from './life.js'
import { Definition } from './panels/definition.js'
import { Evidence } from './panels/evidence.js'
import { Runs } from './panels/runs.js'
import { capsuleQuery } from './record/capsule-queries.js'
import type { ReadCapsule } from './record/capsule-record.js'

const Verifications = lazy(() =>
  import('./verification/verifications.js').then(({ Verifications: page }) => ({ default: page }))
)
const Schedule = lazy(() => import('./schedule/schedule.js').then(({ Schedule: page }) => ({ default: page })))

const route = getRouteApi('/signed-in/capsules/$id')

export function CapsulePage() {
  const { id } = route.useParams()
  const capsule = useQuery(capsuleQuery(id))
  if (capsule.isPending) return <Loading />
  if (!capsule.data) return <Refusal error={capsule.error} />
  return <CapsuleView key={id} capsule={capsule.data} />
}

function CapsuleView({ capsule }: { capsule: ReadCapsule }) {
  const { record } = capsule
  usePageTitle(`${record.name} · ${record.state}`)
  useRunsOf(record.id)
  return (
    <>
      <div className={layout.bar}>
        <h1>{record.name}</h1>
        <strong>{record.state}</strong>
      </div>
      {record.description === '' ? null : <p className={own.text}>{record.description}</p>}
      <CapsuleActions capsule={capsule} />
      {record.publication?.taken_down_at ? (
        <Notice tone="warn">
          Removed from the public catalogue: {record.publication.takedown_reason ?? 'no reason was given'}
        </Notice>
      ) : null}
      <Life capsule={capsule} />
      <CapsuleFacts capsule={capsule} />
      <Panels capsule={capsule} />
    </>
  )
}

/** Its runs change while the page is open; that it was sealed elsewhere, the page reads when it is looked at again. */
function useRunsOf(id: string): void {
  const queryClient = useQueryClient()
  useEffect(
    () =>
      onTeamEvent((event) => {
        if (event.type === 'resync' || (event.type === 'capsule_run' && event.capsule_id === id))
          void queryClient.invalidateQueries({ queryKey: ['capsule', id] })
      }),
    [id, queryClient]
  )
}

const Life = ({ capsule: { record } }: { capsule: ReadCapsule }) => (
  <section aria-label="Where it stands">
    <ol className={own.life}>
      {lifeOf(record.state, record.source_job_id !== null).map(({ state, text }) => (
        <li key={state} className={own.stage} {...(state === record.state && { 'aria-current': 'step' })}>
          <strong>{state}</strong>
          {text}
        </li>
      ))}
    </ol>
  </section>
)

function CapsuleFacts({ capsule: { record } }: { capsule: ReadCapsule }) {
  const { seal, publication } = record
  return (
    <Facts>
      <Fact name="Id">
        <code>{record.id}</code>
      </Fact>
      <Fact name="Owner">
        <Owner teamId={record.team_id} id={record.owner_id} />
      </Fact>
      <Fact name="Backends">{record.backends.join(', ') || '–'}</Fact>
      <Fact name="Spent">
        {usd(record.spent_usd)}
        {record.reserved_usd > 0 ? `, ${usd(record.reserved_usd)} reserved` : ''}
        {record.max_budget_usd === null ? '' : ` of ${usd(record.max_budget_usd)}`}
      </Fact>
      {record.source_job_id === null ? null : (
        <Fact name="Made from">
          <Link to="/jobs/$id" params={{ id: record.source_job_id }}>
            a job
          </Link>
        </Fact>
      )}
      {record.tags.length > 0 ? <Fact name="Tags">{record.tags.join(', ')}</Fact> : null}
      <Fact name="Created">
        <Time at={record.created_at} />
      </Fact>
      {record.retention_years === null ? null : (
        <Fact name="Retention">
          {record.retention_years} years
          {seal?.retained_until ? (
            <>
              , until <Time at={seal.retained_until} />
            </>
          ) : null}
        </Fact>
      )}
      {record.derived_from === null ? null : (
        <Fact name="Continues">
          <span className={own.digest}>{record.derived_from}</span>
        </Fact>
      )}
      {seal ? (
        <>
          <Fact name="Identity">
            <span className={own.digest}>{seal.capsule_digest}</span>
          </Fact>
          <Fact name="Sealed">
            <Time at={seal.sealed_at} />, exit code {seal.exit_code}
            {seal.exit_message ? `: ${seal.exit_message}` : ''}
          </Fact>
          <Fact name="Margin">{seal.margin}</Fact>
          {seal.warnings.length > 0 ? (
            <Fact name="Warnings of the seal">
              <ul>
                {seal.warnings.map((warning) => (
                  <li key={warning}>{warning}</li>
                ))}
              </ul>
            </Fact>
          ) : null}
        </>
      ) : null}
      {publication && publication.taken_down_at === null ? (
        <Fact name="Published">
          <Link to="/public/$slug" params={{ slug: publication.slug }}>
            {publication.title}
          </Link>
        </Fact>
      ) : null}
    </Facts>
  )
}

/** The owner of the team has the capsules of those who left it. */
function Owner({ teamId, id }: { teamId: string; id: string | null }) {
  const { data: members } = useQuery(membersQuery(teamId))
  if (!members) return '–'
  const owner = members.find(({ user_id }) => user_id === id)
  const inherits = members.find(({ role }) => role === 'owner')
  return owner ? shownText(owner.name) : `${shownText(inherits?.name ?? 'the owner of the team')}, for one who left`
}

function Panels({ capsule }: { capsule: ReadCapsule }) {
  const { tab = 'definition' } = route.useSearch()
  const navigate = route.useNavigate()
  const panels = {
    definition: <Definition capsule={capsule} />,
    evidence: <Evidence capsule={capsule} />,
    runs: <Runs capsule={capsule} />,
    verifications: <Verifications capsule={capsule} />,
    schedule: <Schedule capsule={capsule} />
  }
  const select = (part: CapsuleTab) =>
    void navigate({
      search: ({ run: _, page: __, ...search }) => ({ ...search, tab: part }),
      replace: true,
      resetScroll: false
    })
  return <Parts label="Parts of the capsule" texts={capsuleTabs} panels={panels} shown={tab} onShow={select} />
}
