// The capsules of a team, newest first: where each stands, its last verdict and its next run. The address holds the filters.
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import type { components } from '../../api/schema.js'
import { Button } from '../../components/button.js'
import { Choice, Field } from '../../components/fields.js'
import layout from '../../components/layout.module.css'
import { Empty, Loading, Refusal } from '../../components/notice.js'
import { Pager } from '../../components/pager.js'
import { Table, Wide } from '../../components/table.js'
import { Time } from '../../components/text.js'
import { onTeamEvent } from '../../live/team-events.js'
import { usePageTitle } from '../../shell/page-title.js'
import { useTeam } from '../../shell/team.js'
import { VerdictBadge } from '../badges.js'
import { CreateDialog } from '../create/create-dialog.js'
import { ImportDialog } from '../create/import-dialog.js'
import { capsulesQuery } from '../record/capsule-queries.js'
import { wordsOf } from '../words.js'
import { type CapsuleFilters, capsuleStates, readCapsuleFilters } from './capsule-filters.js'

type Item = components['schemas']['CapsuleSummary']

const route = getRouteApi('/signed-in/capsules')

export function CapsulesPage() {
  usePageTitle('Capsules')
  const filters = readCapsuleFilters(route.useSearch() as Record<string, unknown>)
  const navigate = route.useNavigate()
  const { team, teamParam } = useTeam()
  const [making, setMaking] = useState<'tasks' | 'file' | null>(null)
  const list = useQuery({ ...capsulesQuery(teamParam, filters), placeholderData: keepPreviousData })
  useChangesOfRuns(team?.id)
  const { page = 1, ...chosen } = filters
  const close = () => setMaking(null)
  return (
    <>
      <div className={layout.bar}>
        <h1>Capsules{team ? ` of ${team.name}` : ''}</h1>
        <Button kind="main" onPress={() => setMaking('tasks')}>
          New capsule
        </Button>
        <Button onPress={() => setMaking('file')}>From a file</Button>
      </div>
      <Filters filters={filters} />
      <Refusal error={list.error} />
      {list.isPending ? <Loading /> : null}
      {list.data && list.data.capsules.length === 0 ? <NoCapsules filtered={Object.keys(chosen).length > 0} /> : null}
      {list.data && list.data.capsules.length > 0 ? (
        <>
          <Table
            label="Capsules"
            heads={['Name', 'State', 'Last verdict', 'Next run', 'Under way', 'Backends', 'Changed']}
          >
            {list.data.capsules.map((item) => (
              <Row key={item.id} item={item} />
            ))}
          </Table>
          <Pager
            end={list.data}
            rows={list.data.capsules.length}
            noun="capsule"
            onPage={(next) => void navigate({ search: (search) => ({ ...search, page: next }) })}
          />
        </>
      ) : null}
      {making === 'tasks' ? <CreateDialog onClose={close} /> : null}
      {making === 'file' ? <ImportDialog onClose={close} /> : null}
    </>
  )
}

/** Runs change the three columns that people look at. */
function useChangesOfRuns(teamId: string | undefined): void {
  const queryClient = useQueryClient()
  useEffect(
    () =>
      onTeamEvent((event) => {
        if (event.type === 'resync' || (event.type === 'capsule_run' && event.team_id === teamId))
          void queryClient.invalidateQueries({ queryKey: ['capsules'] })
      }),
    [queryClient, teamId]
  )
}

function Row({ item }: { item: Item }) {
  const { last_verification: last, schedule } = item
  return (
    <tr>
      <Wide>
        <Link to="/capsules/$id" params={{ id: item.id }}>
          {item.name}
        </Link>
        {item.tags.length > 0 ? <div className={layout.quiet}>{item.tags.join(', ')}</div> : null}
      </Wide>
      <td>{item.state}</td>
      <td>
        {last ? (
          <>
            <VerdictBadge verdict={last.verdict} />
            <div className={layout.quiet}>
              <Time at={last.completed_at} />
            </div>
          </>
        ) : (
          '–'
        )}
      </td>
      <td>{schedule ? <NextRun schedule={schedule} /> : '–'}</td>
      <td>{item.runs_under_way}</td>
      <td>{item.backends.join(', ')}</td>
      <td>
        <Time at={item.updated_at} />
      </td>
    </tr>
  )
}

function NextRun({ schedule: { paused, next_run_at, engine } }: { schedule: NonNullable<Item['schedule']> }) {
  return (
    <>
      {paused ? 'paused' : <Time at={next_run_at} />}
      {engine.state === 'applied' ? null : (
        <div className={layout.quiet}>
          {wordsOf(engine.state)}
          {engine.reason === null ? '' : `: ${engine.reason}`}
        </div>
      )}
    </>
  )
}

function Filters({ filters }: { filters: CapsuleFilters }) {
  const navigate = route.useNavigate()
  const [text, setText] = useState(filters.q ?? '')
  const [tag, setTag] = useState(filters.tag ?? '')
  const change = (changes: Partial<Record<keyof CapsuleFilters, unknown>>) =>
    void navigate({
      search: (search: Record<string, unknown>) => {
        const { state, q, tag: known, mine, page: _, ...others } = search
        return { ...others, ...readCapsuleFilters({ state, q, tag: known, mine, ...changes }) }
      },
      replace: true
    })
  return (
    <search>
      <form
        className={layout.filters}
        onSubmit={(event) => {
          event.preventDefault()
          change({ q: text, tag })
        }}
      >
        <Field
          label="Name or description"
          value={text}
          onChange={setText}
          onBlur={() => (text === (filters.q ?? '') ? undefined : change({ q: text }))}
        />
        <Field
          label="Tag"
          value={tag}
          onChange={setTag}
          onBlur={() => (tag === (filters.tag ?? '') ? undefined : change({ tag }))}
        />
        <Choice
          label="State"
          value={filters.state ?? ''}
          options={[{ value: '', text: 'Any' }, ...capsuleStates.map((value) => ({ value, text: value }))]}
          onChange={(state) => change({ state })}
        />
        <Choice
          label="Owned by"
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

function NoCapsules({ filtered }: { filtered: boolean }) {
  if (filtered)
    return (
      <Empty title="No capsule matches these filters">
        <p>Choose others above.</p>
      </Empty>
    )
  return (
    <Empty title="There is no capsule yet">
      <p>
        A capsule packages what was run: programs, parameters, backends and results. Once sealed it never changes, and
        its results can be compared with those of every later run.
      </p>
      <p>
        Make one from a completed <Link to="/jobs">job</Link>, from tasks, or from a file.
      </p>
    </Empty>
  )
}
