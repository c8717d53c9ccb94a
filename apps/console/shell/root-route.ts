// The root of all pages. The address of each can name a team.
import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, Outlet, retainSearchParams } from '@tanstack/react-router'
import { NoPage } from './no-page.js'

export const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

export const root = createRootRouteWithContext<{ queryClient: QueryClient }>()({
  validateSearch: ({ team }: Record<string, unknown>): { team?: string } => {
    const id = text(team)
    return id === undefined ? {} : { team: id }
  },
  search: { middlewares: [retainSearchParams(['team'])] },
  component: Outlet,
  notFoundComponent: NoPage
})
