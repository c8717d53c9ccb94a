// What pages read. Each read names the team of the page's address.
import { QueryClient, queryOptions } from '@tanstack/react-query'
import { ApiError, ConnectionLost } from './api-error.js'
import { api, bodyOf, type Team, type User } from './client.js'
import { rememberSignedIn } from './patient-fetch.js'
import { setServiceState } from './service-state.js'

export interface Session {
  user: User
  teams: Team[]
  /** Teams that the caller has left, or was removed from, since the page was loaded. */
  former: Team[]
}

/** Fields that later versions of the service have. */
export interface Features {
  sign_in: readonly string[]
  frameworks: readonly string[]
  execution_modes: readonly string[]
  access_codes?: boolean
  mail?: boolean
  browser_simulator: { warn_from_qubits: number; qubits_max: number }
}

/** Reads that fail because the service is away are repeated when it is back (see shell/app.tsx). */
export const createQueryClient = (): QueryClient =>
  new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        networkMode: 'always',
        retry: (failures, error) => failures < 2 && !(error instanceof ApiError || error instanceof ConnectionLost)
      },
      mutations: { networkMode: 'always' }
    }
  })

/** `null`: nobody is signed in. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  staleTime: 60_000,
  queryFn: async ({ signal, client, queryKey }): Promise<Session | null> => {
    const { data, error, response } = await api.GET('/api/auth/session', { signal })
    const before = client.getQueryData<Session | null>(queryKey) ?? null
    if (response.status === 401) {
      // What is on the page stays there: the owner is asked for the password in place (shell/sign-in-again.tsx).
      if (before) setServiceState({ sessionEnded: true })
      return before
    }
    const session = await bodyOf(Promise.resolve({ data, error, response }))
    const ids = new Set(session.teams.map(({ id }) => id))
    const former = before ? [...before.teams, ...before.former].filter(({ id }) => !ids.has(id)) : []
    // Somebody else signed in with this browser: nothing of the first person's pages may stay.
    if (before && before.user.id !== session.user.id) location.reload()
    rememberSignedIn(true)
    return { ...session, former }
  }
})

export const metaQuery = queryOptions({
  queryKey: ['meta'],
  staleTime: Number.POSITIVE_INFINITY,
  queryFn: async ({ signal }) => {
    const meta = await bodyOf(api.GET('/api/meta', { signal }))
    return { ...meta, features: meta.features as Features }
  }
})

/** A browser may keep the list for ten minutes, so it is told to ask whether it has changed. */
export const backendsQuery = queryOptions({
  queryKey: ['backends'],
  queryFn: ({ signal }) => bodyOf(api.GET('/api/backends', { signal, cache: 'no-cache' }))
})
