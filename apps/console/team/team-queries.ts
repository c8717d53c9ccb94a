// What the pages of a team read. Each read names the team.
import { type QueryClient, queryOptions } from '@tanstack/react-query'
import { api, bodyOf } from '../api/client.js'
import { sessionQuery } from '../api/queries.js'
import type { components } from '../api/schema.js'

type Schemas = components['schemas']
export type TeamRecord = Schemas['TeamRecord']
export type Member = Schemas['Member']
export type Invitation = Schemas['Invitation']
export type ApiKey = Schemas['ApiKey']
export type Secret = Schemas['Secret']
export type Webhook = Schemas['Webhook']
export type Delivery = Schemas['Delivery']
export type Provider = Schemas['CredentialProvider']
export type TeamBudget = Schemas['TeamBudget']
export type TeamRetention = Schemas['TeamRetention']
export type Usage = Schemas['GetUsageResponse']

const of = (teamId: string) => ({ query: { team_id: teamId } })

export const teamsQuery = queryOptions({
  queryKey: ['team', 'all'],
  queryFn: async ({ signal }) => (await bodyOf(api.GET('/api/teams', { signal }))).teams
})

export const membersQuery = (teamId: string) =>
  queryOptions({
    queryKey: ['team', teamId, 'members'],
    // Parts of a page that are loaded one after the other share it.
    staleTime: 30_000,
    queryFn: async ({ signal }) => (await bodyOf(api.GET('/api/team/members', { params: of(teamId), signal }))).members
  })

export const invitationsQuery = (teamId: string) =>
  queryOptions({
    queryKey: ['team', teamId, 'invitations'],
    queryFn: async ({ signal }) =>
      (await bodyOf(api.GET('/api/team/invitations', { params: of(teamId), signal }))).invitations
  })

export const providersQuery = queryOptions({
  queryKey: ['providers'],
  staleTime: Number.POSITIVE_INFINITY,
  queryFn: async ({ signal }) => (await bodyOf(api.GET('/api/meta/providers', { signal }))).providers
})

export const secretsQuery = (teamId: string) =>
  queryOptions({
    queryKey: ['team', teamId, 'secrets'],
    queryFn: async ({ signal }) => (await bodyOf(api.GET('/api/team/secrets', { params: of(teamId), signal }))).secrets
  })

export const keysQuery = (teamId: string) =>
  queryOptions({
    queryKey: ['team', teamId, 'keys'],
    queryFn: async ({ signal }) =>
      (await bodyOf(api.GET('/api/team/api-keys', { params: of(teamId), signal }))).api_keys
  })

export const webhooksQuery = (teamId: string) =>
  queryOptions({
    queryKey: ['team', teamId, 'webhooks'],
    queryFn: async ({ signal }) =>
      (await bodyOf(api.GET('/api/team/webhooks', { params: of(teamId), signal }))).webhooks
  })

/** @param round a number of its own for each reading that has to be counted anew. */
export const deliveriesQuery = (teamId: string, id: string, round: number) =>
  queryOptions({
    queryKey: ['team', teamId, 'webhooks', id, round],
    queryFn: async ({ signal }) =>
      (await bodyOf(api.GET('/api/team/webhooks/{id}/deliveries', { params: { path: { id } }, signal }))).deliveries
  })

export const budgetQuery = (teamId: string) =>
  queryOptions({
    queryKey: ['team', teamId, 'budget'],
    queryFn: ({ signal }) => bodyOf(api.GET('/api/team/budget', { params: of(teamId), signal }))
  })

export const retentionQuery = (teamId: string) =>
  queryOptions({
    queryKey: ['team', teamId, 'retention'],
    queryFn: ({ signal }) => bodyOf(api.GET('/api/team/retention', { params: of(teamId), signal }))
  })

const MONTHS = 12

/** @param month `undefined` is the present one. */
export const usageQuery = (teamId: string, month: string | undefined) =>
  queryOptions({
    queryKey: ['team', teamId, 'usage', month ?? 'now'],
    queryFn: async ({ signal }) => {
      const query = { team_id: teamId, months: MONTHS, ...(month !== undefined && { month }) }
      // Text is the answer to `format=csv`.
      return (await bodyOf(api.GET('/api/team/usage', { params: { query }, signal }))) as Usage
    }
  })

/** Reads again what a change touched: the team's pages, what may be done, and whether the caller still belongs to it. */
export async function readTeamAgain(queryClient: QueryClient): Promise<void> {
  const { queryKey } = sessionQuery
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: ['team'] }),
    queryClient.invalidateQueries({ queryKey })
  ])
}
