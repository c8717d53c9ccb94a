// The scripts that the caller can see, newest first. The address holds the filters.
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useCallback, useMemo, useState } from 'react'
import { sessionQuery } from '../../api/queries.js'
import { Button } from '../../components/button.js'
import { Choice, Field } from '../../components/fields.js'
import layout from '../../components/layout.module.css'
import { Empty, Loading, Refusal } from '../../components/notice.js'
import { usePageTitle } from '../../shell/page-title.js'
import { useTeam } from '../../shell/team.js'
import { shownText } from '../../text/list-total.js'
import { type ScriptItem, scriptsQuery } from '../script-queries.js'
import { readScriptFilters, type ScriptFilters, scriptKinds } from './script-filters.js'
import { ScriptTable } from './script-table.js'

const route = getRouteApi('/signed-in/scripts')

export function ScriptsPage() {
  usePageTitle('Scripts')
  const filters = readScriptFilters(route.useSearch() as Record<string, unknown>)
  const { teamParam } = useTeam()
  const { data: session } = useQuery(sessionQuery)
  const navigate = useNavigate()
  const list = useInfiniteQuery(scriptsQuery(teamParam, filters))
  const scripts = useMemo(() => unique(list.data?.pages.flatMap((page) => page.scripts) ?? []), [list.data])
  const first = list.data?.pages[0]
  const { hasNextPage, isFetching, isError, fetchNextPage } = list
  const more = useCallback(() => {
    if (hasNextPage && !isFetching && !isError) void fetchNextPage()
  }, [hasNextPage, isFetching, isError, fetchNextPage])
  const create = () => void navigate({ to: '/scripts/new' })
  return (
    <>
      <div className={layout.bar}>
        <h1>Scripts</h1>
        <Button kind="main" onPress={create}>
          New script
        </Button>
      </div>
      <Filters filters={filters} />
      <Refusal error={list.error} />
      {list.isPending ? <Loading /> : null}
      {first && scripts.length > 0 ? (
        <>
          <ScriptTable scripts={scripts} total={first.total} teams={session?.teams ?? []} onEnd={more} />
          <p className={layout.quiet} role="status">
            {shownText(scripts.length, first, 'scripts')}
          </p>
        </>
      ) : null}
      {first && scripts.length === 0 ? (
        <Empty title="No script matches these filters">
          <p>Choose others above, or write one.</p>
          <Button kind="main" onPress={create}>
            Write a script
          </Button>
        </Empty>
      ) : null}
      {hasNextPage ? (
        <p>
          <Button onPress={more} isDisabled={list.isFetchingNextPage}>
            Show older scripts
          </Button>
        </p>
      ) : null}
    </>
  )
}

/** Between two reads a new script can move another into the next page. */
function unique(scripts: readonly ScriptItem[]): ScriptItem[] {
  return [...new Map(scripts.map((script) => [script.id, script])).values()]
}

function Filters({ filters }: { filters: ScriptFilters }) {
  const navigate = route.useNavigate()
  const [text, setText] = useState(filters.q ?? '')
  const change = (changes: Record<string, unknown>) =>
    void navigate({
      search: (search: Record<string, unknown>) => {
        const { kind, q, ...others } = search
        return { ...others, ...readScriptFilters({ kind, q, ...changes }) }
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
        <Field
          label="Name, description, slug or id"
          value={text}
          onChange={setText}
          onBlur={() => change({ q: text })}
        />
        <Choice
          label="Kind"
          value={filters.kind ?? ''}
          options={[
            { value: '', text: 'Any' },
            ...Object.entries(scriptKinds).map(([value, name]) => ({ value, text: name }))
          ]}
          onChange={(kind) => change({ kind })}
        />
      </form>
    </search>
  )
}
