import { queryOptions } from '@tanstack/react-query'
import { api, bodyOf, fetchPart } from '../../api/client.js'
import type { CapsuleFilters } from '../list/capsule-filters.js'
import { readCapsuleRecord } from './capsule-record.js'

/** How many capsules, runs and verifications a page of each list shows. */
export const LISTED = { capsules: 50, runs: 20, verifications: 500 } as const

export const capsulesQuery = (team: { team_id?: string }, { page = 1, ...filters }: CapsuleFilters) =>
  queryOptions({
    queryKey: ['capsules', team, filters, page],
    queryFn: ({ signal }) => {
      const paged = { limit: LISTED.capsules, offset: (page - 1) * LISTED.capsules }
      return bodyOf(api.GET('/api/capsules', { params: { query: { ...team, ...filters, ...paged } }, signal }))
    }
  })

export const capsuleQuery = (id: string) =>
  queryOptions({
    queryKey: ['capsule', id, 'record'],
    queryFn: async ({ signal }) =>
      readCapsuleRecord(await (await fetchPart(`/api/capsules/${encodeURIComponent(id)}`, signal)).text())
  })

/** @param page from 1, newest first. */
export const runsQuery = (id: string, page: number) =>
  queryOptions({
    queryKey: ['capsule', id, 'runs', page],
    queryFn: ({ signal }) => {
      const query = { limit: LISTED.runs, offset: (page - 1) * LISTED.runs }
      return bodyOf(api.GET('/api/capsules/{id}/runs', { params: { path: { id }, query }, signal }))
    }
  })

export const runQuery = (id: string, runId: string) =>
  queryOptions({
    queryKey: ['capsule', id, 'run', runId],
    queryFn: ({ signal }) =>
      bodyOf(api.GET('/api/capsules/{id}/runs/{runId}', { params: { path: { id, runId } }, signal }))
  })

/** @param page from 1, newest first. */
export const verificationsQuery = (id: string, page: number) =>
  queryOptions({
    queryKey: ['capsule', id, 'verifications', page],
    queryFn: ({ signal }) => {
      const query = { limit: LISTED.verifications, offset: (page - 1) * LISTED.verifications }
      return bodyOf(api.GET('/api/capsules/{id}/verifications', { params: { path: { id }, query }, signal }))
    }
  })

export const scheduleQuery = (id: string) =>
  queryOptions({
    queryKey: ['capsule', id, 'schedule'],
    queryFn: ({ signal }) => bodyOf(api.GET('/api/capsules/{id}/schedule', { params: { path: { id } }, signal }))
  })
