import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, bodyOf, fetchPart, type JobStatus } from '../../api/client.js'
import type { JobFilters } from '../list/job-filters.js'
import { readJobRecord, readResult } from './job-record.js'

/** The most that one request can have. */
const PAGE = 100

const pathOf = (id: string): string => `/api/jobs/${encodeURIComponent(id)}`

export const resultPath = (id: string): string => `${pathOf(id)}/result`

export function readJobsPage(
  team: { team_id?: string },
  { status, ...others }: JobFilters,
  cursor: string | null,
  signal?: AbortSignal
) {
  const query = {
    ...team,
    ...others,
    ...(status && { status: status as JobStatus }),
    ...(cursor && { cursor }),
    limit: PAGE
  }
  return bodyOf(api.GET('/api/jobs', { params: { query }, ...(signal && { signal }) }))
}

/** Never read again as a whole, which would be a hundred requests: jobs/list/list-reader.ts reads what is seen of it. */
export const jobsQuery = (team: { team_id?: string }, filters: JobFilters) =>
  infiniteQueryOptions({
    queryKey: ['jobs', team, filters],
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnReconnect: false,
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) => readJobsPage(team, filters, pageParam, signal),
    getNextPageParam: ({ next_cursor }) => next_cursor
  })

export const jobQuery = (id: string) =>
  queryOptions({
    queryKey: ['job', id, 'record'],
    queryFn: async ({ signal }) => {
      const response = await fetchPart(`${pathOf(id)}?result=omit`, signal)
      return readJobRecord(await response.text(), response.headers.get('date'))
    }
  })

/** A result never changes. @param bytes its size, as the record says it. */
export const resultQuery = (id: string, bytes: number) =>
  queryOptions({
    queryKey: ['result', id],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => readResult(await fetchPart(resultPath(id), signal), bytes)
  })

export const attemptsQuery = (id: string) =>
  queryOptions({
    queryKey: ['job', id, 'attempts'],
    queryFn: async ({ signal }) =>
      (await bodyOf(api.GET('/api/jobs/{id}/attempts', { params: { path: { id } }, signal }))).attempts
  })

export const tasksQuery = (id: string) =>
  queryOptions({
    queryKey: ['job', id, 'tasks'],
    queryFn: async ({ signal }) =>
      (await bodyOf(api.GET('/api/jobs/{id}/tasks', { params: { path: { id } }, signal }))).tasks
  })

export const artifactsQuery = (id: string) =>
  queryOptions({
    queryKey: ['job', id, 'artifacts'],
    queryFn: async ({ signal }) =>
      (await bodyOf(api.GET('/api/jobs/{id}/artifacts', { params: { path: { id } }, signal }))).artifacts
  })

/** What was submitted never changes. */
export const sourceQuery = (id: string) =>
  queryOptions({
    queryKey: ['source', id],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => (await fetchPart(`${pathOf(id)}/source`, signal)).text()
  })

/** A file of a job, which never changes either. */
export const fileQuery = (url: string) =>
  queryOptions({
    queryKey: ['file', url],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => (await fetchPart(url, signal)).text()
  })
