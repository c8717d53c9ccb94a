import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, bodyOf, fetchPart, type JobStatus } from '../api/client.js'
import type { JobFilters } from './job-filters.js'
import { readHead, readJobRecord } from './job-record.js'

const PAGE = 50

export const jobsQuery = (team: { team_id?: string }, filters: JobFilters) =>
  infiniteQueryOptions({
    queryKey: ['jobs', team, filters],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) => {
      const { status, ...others } = filters
      const query = {
        ...team,
        ...others,
        ...(status && { status: status as JobStatus }),
        ...(pageParam && { cursor: pageParam }),
        limit: PAGE
      }
      return bodyOf(api.GET('/api/jobs', { params: { query }, signal }))
    },
    getNextPageParam: ({ next_cursor }) => next_cursor
  })

export const jobQuery = (id: string) =>
  queryOptions({
    queryKey: ['job', id, 'record'],
    queryFn: async ({ signal }) => {
      const { text, received } = await readHead(await fetchPart(`/api/jobs/${encodeURIComponent(id)}`, signal))
      return readJobRecord(text, received)
    }
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
    queryFn: async ({ signal }) => (await fetchPart(`/api/jobs/${encodeURIComponent(id)}/source`, signal)).text()
  })
