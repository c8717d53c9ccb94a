// What the pages of scripts read.
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, bodyOf } from '../api/client.js'
import type { components } from '../api/schema.js'
import type { ScriptFilters } from './list/script-filters.js'

type Schemas = components['schemas']
export type Script = Schemas['Script']
export type ScriptItem = Schemas['ScriptSummary']
export type ScriptWarning = Schemas['ScriptWarning']

/** The most that one request can have. */
const PAGE = 100

interface Page {
  total: number
  offset: number
}

const nextOffset =
  (length: number) =>
  ({ total, offset }: Page): number | undefined =>
    length > 0 && offset + length < total ? offset + length : undefined

/** Read from its beginning at each visit, since a page that is read again would be as many requests as were scrolled to. */
export const scriptsQuery = (team: { team_id?: string }, { kind, q }: ScriptFilters) =>
  infiniteQueryOptions({
    queryKey: ['scripts', kind === 'team' ? team : null, kind, q],
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnReconnect: false,
    initialPageParam: 0,
    queryFn: ({ pageParam, signal }) => {
      const query = {
        ...(kind && { kind }),
        ...(q && { q }),
        ...(kind === 'team' && team),
        limit: PAGE,
        offset: pageParam
      }
      return bodyOf(api.GET('/api/scripts', { params: { query }, signal }))
    },
    getNextPageParam: (page) => nextOffset(page.scripts.length)(page)
  })

export const scriptQuery = (id: string) =>
  queryOptions({
    queryKey: ['script', id, 'record'],
    queryFn: ({ signal }) => bodyOf(api.GET('/api/scripts/{id}', { params: { path: { id } }, signal }))
  })

export const versionsQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['script', id, 'versions'],
    initialPageParam: 0,
    queryFn: ({ pageParam, signal }) => {
      const params = { path: { id }, query: { limit: PAGE, offset: pageParam } }
      return bodyOf(api.GET('/api/scripts/{id}/versions', { params, signal }))
    },
    getNextPageParam: (page) => nextOffset(page.versions.length)(page)
  })

/** A version never changes. */
export const versionQuery = (id: string, version: number) =>
  queryOptions({
    queryKey: ['script version', id, version],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) =>
      bodyOf(api.GET('/api/scripts/{id}/versions/{version}', { params: { path: { id, version } }, signal }))
  })

/** The jobs of the team that ran the script. */
export const scriptJobsQuery = (id: string, team: { team_id?: string }) =>
  infiniteQueryOptions({
    queryKey: ['script', id, 'jobs', team],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) => {
      const query = { ...team, script_id: id, limit: 50, ...(pageParam && { cursor: pageParam }) }
      return bodyOf(api.GET('/api/jobs', { params: { query }, signal }))
    },
    getNextPageParam: ({ next_cursor }) => next_cursor
  })

/** Where the query cache keeps the warnings of the last save. */
export const warningsKey = (id: string) => ['script warnings', id] as const
