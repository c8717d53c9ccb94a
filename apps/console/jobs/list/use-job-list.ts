import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useMemo, useState } from 'react'
import type { SeenRows } from '../../components/windowed/use-row-window.js'
import { jobsQuery, readJobsPage } from '../record/job-queries.js'
import type { JobFilters } from './job-filters.js'
import { jobsOf } from './list-pages.js'
import { createListReader } from './list-reader.js'

/** The jobs that were read so far, which follow what changes, and more of them as soon as the last is seen. */
export function useJobList(team: { team_id?: string }, filters: JobFilters) {
  const queryClient = useQueryClient()
  const query = jobsQuery(team, filters)
  const list = useInfiniteQuery(query)
  const jobs = useMemo(() => jobsOf(list.data?.pages ?? []), [list.data])
  const [end, setEnd] = useState(0)

  // biome-ignore lint/correctness/useExhaustiveDependencies: team and filters are the key
  const reader = useMemo(
    () =>
      createListReader(queryClient, {
        queryKey: query.queryKey,
        teamId: team.team_id,
        read: (cursor) => readJobsPage(team, filters, cursor)
      }),
    [queryClient, JSON.stringify(query.queryKey)]
  )
  useEffect(() => reader.start(), [reader])
  const see = useCallback(
    (rows: SeenRows) => {
      reader.see(rows)
      setEnd(rows.to)
    },
    [reader]
  )

  const { hasNextPage, isFetching, isError, fetchNextPage } = list
  const isAtEnd = jobs.length > 0 && end >= jobs.length
  useEffect(() => {
    if (isAtEnd && hasNextPage && !isFetching && !isError) void fetchNextPage()
  }, [isAtEnd, hasNextPage, isFetching, isError, fetchNextPage])
  return { list, jobs, see }
}
