import { queryOptions } from '@tanstack/react-query'
import { api, bodyOf } from '../api/client.js'
import type { components } from '../api/schema.js'

export type Profile = components['schemas']['Profile']
export type Session = components['schemas']['Session']

export const profileQuery = queryOptions({
  queryKey: ['profile'],
  queryFn: ({ signal }) => bodyOf(api.GET('/api/profile', { signal }))
})

export const publicProfileQuery = (username: string) =>
  queryOptions({
    queryKey: ['profile', username],
    queryFn: ({ signal }) => bodyOf(api.GET('/api/profiles/{username}', { params: { path: { username } }, signal }))
  })

export const sessionsQuery = queryOptions({
  queryKey: ['sessions'],
  queryFn: async ({ signal }) => (await bodyOf(api.GET('/api/auth/sessions', { signal }))).sessions
})

export const deletionQuery = queryOptions({
  queryKey: ['profile deletion'],
  queryFn: ({ signal }) => bodyOf(api.GET('/api/profile/deletion', { signal }))
})
