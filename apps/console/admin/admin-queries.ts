// What the pages of administration read. A write makes all of it old.
import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import { api, bodyOf } from '../api/client.js'
import type { components } from '../api/schema.js'

type Schemas = components['schemas']
export type System = Schemas['System']
export type Money = Schemas['Money']
export type AnyTeam = Schemas['AnyTeam']
export type AnyJobRecord = Schemas['AnyJobRecord']
export type AdminAction = Schemas['AuditEntry']['action']

export const readAgain = (queryClient: QueryClient) => queryClient.invalidateQueries({ queryKey: ['admin'] })

interface Search {
  q?: string
  /** From 1. */
  page?: number
}

export const LISTED = 50

const pageOf = ({ q, page = 1 }: Search) => ({ limit: LISTED, offset: (page - 1) * LISTED, ...(q && { q }) })

export const systemQuery = queryOptions({
  queryKey: ['admin', 'system'],
  refetchInterval: 15_000,
  queryFn: ({ signal }) => bodyOf(api.GET('/api/admin/system', { signal }))
})

export const moneyQuery = queryOptions({
  queryKey: ['admin', 'money'],
  queryFn: ({ signal }) => bodyOf(api.GET('/api/admin/money', { params: { query: { limit: 500 } }, signal }))
})

export const teamsQuery = (search: Search) =>
  queryOptions({
    queryKey: ['admin', 'teams', search],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => bodyOf(api.GET('/api/admin/teams', { params: { query: pageOf(search) }, signal }))
  })

/** A search for an id also finds the teams of a member with that id. */
export const teamQuery = (id: string) =>
  queryOptions({
    queryKey: ['admin', 'team', id],
    queryFn: async ({ signal }) => {
      const { teams } = await bodyOf(
        api.GET('/api/admin/teams', { params: { query: { ...pageOf({}), q: id } }, signal })
      )
      return teams.find((team) => team.id === id) ?? null
    }
  })

export const teamBudgetQuery = (id: string) =>
  queryOptions({
    queryKey: ['admin', 'budget', id],
    queryFn: ({ signal }) => bodyOf(api.GET('/api/admin/teams/{id}/budgets', { params: { path: { id } }, signal }))
  })

export const teamStorageQuery = (id: string) =>
  queryOptions({
    queryKey: ['admin', 'storage', id],
    queryFn: ({ signal }) => bodyOf(api.GET('/api/admin/teams/{id}/storage', { params: { path: { id } }, signal }))
  })

export const usersQuery = (search: Search) =>
  queryOptions({
    queryKey: ['admin', 'users', search],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => bodyOf(api.GET('/api/admin/users', { params: { query: pageOf(search) }, signal }))
  })

export const anyJobsQuery = (search: Search & { status?: string }) =>
  queryOptions({
    queryKey: ['admin', 'jobs', search],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => {
      // The address can hold a status that does not exist: the service says so.
      const query = { ...pageOf(search), ...(search.status && { status: search.status as never }) }
      return bodyOf(api.GET('/api/admin/jobs', { params: { query }, signal }))
    }
  })

export const anyJobQuery = (id: string) =>
  queryOptions({
    queryKey: ['admin', 'job', id],
    queryFn: ({ signal }) => bodyOf(api.GET('/api/admin/jobs/{id}', { params: { path: { id } }, signal }))
  })

export const accessCodesQuery = (search: Search) =>
  queryOptions({
    queryKey: ['admin', 'access codes', search],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => bodyOf(api.GET('/api/admin/access-codes', { params: { query: pageOf(search) }, signal }))
  })

export const publicCapsulesQuery = (search: Search) =>
  queryOptions({
    queryKey: ['admin', 'public capsules', search],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => bodyOf(api.GET('/api/capsules/public', { params: { query: pageOf(search) }, signal }))
  })
