// What was done to the capsules of a team, and the proof that nobody changed the record since.
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useCallback, useMemo, useState } from 'react'
import { Button } from '../components/button.js'
import layout from '../components/layout.module.css'
import { Empty, Loading, Refusal } from '../components/notice.js'
import type { SeenRows } from '../components/windowed/use-row-window.js'
import { usePageTitle } from '../shell/page-title.js'
import { useTeam } from '../shell/team.js'
import { groupedDigits } from '../text/exact-numbers.js'
import { EntryDialog } from './entry-dialog.js'
import { ProveIt } from './prove-it.js'
import { TrailFilterForm } from './trail-filter-form.js'
import type { TrailFilters } from './trail-filters.js'
import { trailQuery } from './trail-queries.js'
import { TrailTable } from './trail-table.js'
import { trailActions } from './trail-texts.js'

const route = getRouteApi('/signed-in/audit')

export function TrailPage() {
  const { team, teamParam } = useTeam()
  usePageTitle('Audit')
  return (
    <>
      <h1>Audit{team ? ` of ${team.name}` : ''}</h1>
      <p className={layout.quiet}>
        Each change of a capsule leaves an entry, which holds the hash of the entry before. Signed checkpoints say where
        the trail ended.
      </p>
      <ProveIt key={team?.id} team={teamParam} />
      <Trail key={`${team?.id} list`} team={teamParam} />
    </>
  )
}

const readText = (count: number, more: boolean): string =>
  `${groupedDigits(count)} ${count === 1 ? 'entry is' : 'entries are'} read${more ? '; there are older ones' : ', all there are'}`

function Trail({ team }: { team: { team_id?: string } }) {
  const { action, from, to, capsule, entry } = route.useSearch()
  const filters: TrailFilters = {
    ...(action && { action }),
    ...(from && { from }),
    ...(to && { to }),
    ...(capsule && { capsule }),
    ...(entry && { entry })
  }
  const navigate = route.useNavigate()
  const queryClient = useQueryClient()
  const [opened, setOpened] = useState<number | null>(null)
  const query = trailQuery(team, filters)
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(query)
  const entries = useMemo(() => data?.pages.flatMap(({ entries }) => entries) ?? [], [data])
  const names = useMemo(() => Object.assign({}, ...(data?.pages.map(({ actors }) => actors) ?? [])), [data])
  const nearEnd = useCallback(
    ({ to }: SeenRows) => {
      if (to >= entries.length && hasNextPage && !isFetchingNextPage && !error) void fetchNextPage()
    },
    [entries.length, hasNextPage, isFetchingNextPage, error, fetchNextPage]
  )
  const filtered = Object.keys(filters).length > 0
  return (
    <section className={layout.section} aria-label="Entries">
      <TrailFilterForm
        actions={trailActions}
        filters={filters}
        numbered
        onChange={(search) => void navigate({ search: ({ team }) => ({ ...(team && { team }), ...search }) })}
      />
      {capsule ? (
        <p>
          Only what was done to the capsule <code>{capsule}</code>. <Link to="/audit">All capsules</Link>
        </p>
      ) : null}
      <Refusal error={error} />
      {data ? null : error ? null : <Loading />}
      {data && entries.length === 0 ? (
        <Empty title={filtered ? 'No entry matches' : 'There is no entry yet'}>
          <p>
            {filtered ? 'Choose another action or another time.' : 'The first capsule of the team makes the first one.'}
          </p>
        </Empty>
      ) : null}
      {entries.length > 0 ? (
        <>
          <TrailTable entries={entries} names={names} onSee={nearEnd} onOpen={setOpened} />
          <div className={layout.bar}>
            <p className={layout.quiet} role="status">
              {readText(entries.length, hasNextPage)}
            </p>
            {hasNextPage ? (
              <Button onPress={() => void fetchNextPage()} isDisabled={isFetchingNextPage}>
                Show older entries
              </Button>
            ) : null}
            <Button onPress={() => void queryClient.resetQueries({ queryKey: query.queryKey })}>Read again</Button>
          </div>
        </>
      ) : null}
      {opened === null ? null : <EntryDialog team={team} seq={opened} onClose={() => setOpened(null)} />}
    </section>
  )
}
