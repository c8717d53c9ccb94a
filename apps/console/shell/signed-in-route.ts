// Pages that need an account: others are asked to sign in first, and come back.
import { createRoute, redirect } from '@tanstack/react-router'
import { sessionQuery } from '../api/queries.js'
import { root } from './root-route.js'
import { PendingShell, Shell } from './shell.js'

export const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  beforeLoad: async ({ context, location }) => {
    const session = await context.queryClient.ensureQueryData(sessionQuery)
    if (session === null)
      throw redirect({
        to: '/sign-in',
        search: location.href === '/' ? {} : { return_to: location.href },
        replace: true
      })
  },
  component: Shell,
  pendingComponent: PendingShell
})
