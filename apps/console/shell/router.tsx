// The pages of the console. The address holds the page, its filters and its team, so that every view can be linked to.
import type { QueryClient } from '@tanstack/react-query'
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
  retainSearchParams
} from '@tanstack/react-router'
import { sessionQuery } from '../api/queries.js'
import { readCompare } from '../jobs/compare/compare-search.js'
import { readTab } from '../jobs/job-tabs.js'
import { readFilters } from '../jobs/list/job-filters.js'
import { loadPart } from './load-part.js'
import { NoPage } from './no-page.js'
import { PageFault } from './page-fault.js'
import { Shell, ShellForAll } from './shell.js'

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

const root = createRootRouteWithContext<{ queryClient: QueryClient }>()({
  validateSearch: ({ team }: Record<string, unknown>): { team?: string } => {
    const id = text(team)
    return id === undefined ? {} : { team: id }
  },
  search: { middlewares: [retainSearchParams(['team'])] },
  component: Outlet,
  notFoundComponent: NoPage
})

const accountPage = <Path extends string>(path: Path, component: ReturnType<typeof lazyRouteComponent>) =>
  createRoute({ getParentRoute: () => root, path, component })

/** Where to go after signing in: a path of the console, never another site. */
const returnTo = ({ return_to }: Record<string, unknown>): { return_to?: string } => {
  const path = text(return_to)
  return path !== undefined && /^\/(?![/\\])/.test(path) ? { return_to: path } : {}
}

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: returnTo,
  component: lazyRouteComponent(() => loadPart(() => import('../accounts/sign-in.js')), 'SignInPage')
})
const signUp = createRoute({
  getParentRoute: () => root,
  path: '/sign-up',
  validateSearch: ({ code }: Record<string, unknown>): { code?: string } => {
    const given = text(code)
    return given === undefined ? {} : { code: given }
  },
  component: lazyRouteComponent(() => loadPart(() => import('../accounts/sign-up.js')), 'SignUpPage')
})
const forgotPassword = accountPage(
  '/forgot-password',
  lazyRouteComponent(() => loadPart(() => import('../accounts/forgot-password.js')), 'ForgotPasswordPage')
)
const resetPassword = accountPage(
  '/reset-password/$token',
  lazyRouteComponent(() => loadPart(() => import('../accounts/reset-password.js')), 'ResetPasswordPage')
)
const invitation = accountPage(
  '/invitations/$token',
  lazyRouteComponent(() => loadPart(() => import('../accounts/invitation.js')), 'InvitationPage')
)

const signedIn = createRoute({
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
  component: Shell
})
const home = createRoute({
  getParentRoute: () => signedIn,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/jobs', replace: true })
  }
})
const jobs = createRoute({
  getParentRoute: () => signedIn,
  path: '/jobs',
  validateSearch: readFilters,
  component: lazyRouteComponent(() => loadPart(() => import('../jobs/list/jobs-page.js')), 'JobsPage')
})
const compare = createRoute({
  getParentRoute: () => signedIn,
  path: '/jobs/compare',
  validateSearch: readCompare,
  component: lazyRouteComponent(() => loadPart(() => import('../jobs/compare/compare-page.js')), 'ComparePage')
})
const job = createRoute({
  getParentRoute: () => signedIn,
  path: '/jobs/$id',
  validateSearch: readTab,
  component: lazyRouteComponent(() => loadPart(() => import('../jobs/job-page.js')), 'JobPage')
})
const backends = createRoute({
  getParentRoute: () => signedIn,
  path: '/backends',
  component: lazyRouteComponent(() => loadPart(() => import('../backends/backends-page.js')), 'BackendsPage')
})

/** Pages that visitors have too: what they do needs no account, or says where it does. */
const open = createRoute({
  getParentRoute: () => root,
  id: 'open',
  beforeLoad: ({ context }) => context.queryClient.ensureQueryData(sessionQuery).then(() => {}),
  component: ShellForAll
})
const playground = createRoute({
  getParentRoute: () => open,
  path: '/run',
  component: lazyRouteComponent(() => loadPart(() => import('../playground/playground-page.js')), 'PlaygroundPage')
})

const routeTree = root.addChildren([
  signIn,
  signUp,
  forgotPassword,
  resetPassword,
  invitation,
  open.addChildren([playground]),
  signedIn.addChildren([home, jobs, compare, job, backends])
])

export const createConsoleRouter = (queryClient: QueryClient) =>
  createRouter({
    routeTree,
    context: { queryClient },
    defaultNotFoundComponent: NoPage,
    defaultErrorComponent: PageFault,
    scrollRestoration: true
  })

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>
  }
}
