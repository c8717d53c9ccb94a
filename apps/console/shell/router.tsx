// The pages of the console. The address holds the page, its filters and its team, so that every view can be linked to.
import type { QueryClient } from '@tanstack/react-query'
import { createRoute, createRouter, redirect } from '@tanstack/react-router'
import { adminRoutes } from '../admin/admin-routes.js'
import { sessionQuery } from '../api/queries.js'
import { readTrailFilters } from '../audit/trail-filters.js'
import { readCapsuleSearch } from '../capsules/capsule-tabs.js'
import { readCapsuleFilters } from '../capsules/list/capsule-filters.js'
import { readCatalogueFilters } from '../capsules/public/catalogue-filters.js'
import { readCompare } from '../jobs/compare/compare-search.js'
import { readTab } from '../jobs/job-tabs.js'
import { readFilters } from '../jobs/list/job-filters.js'
import { readScriptFilters } from '../scripts/list/script-filters.js'
import { readScriptTab } from '../scripts/script-tabs.js'
import { teamRoutes } from '../team/team-routes.js'
import { lazyPage } from './lazy-page.js'
import { NoPage } from './no-page.js'
import { PageFault } from './page-fault.js'
import { readPage } from './page-number.js'
import { root, text } from './root-route.js'
import { PendingShell, ShellForAll } from './shell.js'
import { signedIn } from './signed-in-route.js'

const accountPage = <Path extends string>(path: Path, component: ReturnType<typeof lazyPage>) =>
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
  component: lazyPage(() => import('../accounts/sign-in.js'), 'SignInPage')
})
const signUp = createRoute({
  getParentRoute: () => root,
  path: '/sign-up',
  validateSearch: ({ code }: Record<string, unknown>): { code?: string } => {
    const given = text(code)
    return given === undefined ? {} : { code: given }
  },
  component: lazyPage(() => import('../accounts/sign-up.js'), 'SignUpPage')
})
const forgotPassword = accountPage(
  '/forgot-password',
  lazyPage(() => import('../accounts/forgot-password.js'), 'ForgotPasswordPage')
)
const resetPassword = accountPage(
  '/reset-password/$token',
  lazyPage(() => import('../accounts/reset-password.js'), 'ResetPasswordPage')
)
const invitation = accountPage(
  '/invitations/$token',
  lazyPage(() => import('../accounts/invitation.js'), 'InvitationPage')
)

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
  component: lazyPage(() => import('../jobs/list/jobs-page.js'), 'JobsPage')
})
const compare = createRoute({
  getParentRoute: () => signedIn,
  path: '/jobs/compare',
  validateSearch: readCompare,
  component: lazyPage(() => import('../jobs/compare/compare-page.js'), 'ComparePage')
})
const job = createRoute({
  getParentRoute: () => signedIn,
  path: '/jobs/$id',
  validateSearch: readTab,
  component: lazyPage(() => import('../jobs/job-page.js'), 'JobPage')
})
const scripts = createRoute({
  getParentRoute: () => signedIn,
  path: '/scripts',
  validateSearch: readScriptFilters,
  component: lazyPage(() => import('../scripts/list/scripts-page.js'), 'ScriptsPage')
})
const newScript = createRoute({
  getParentRoute: () => signedIn,
  path: '/scripts/new',
  component: lazyPage(() => import('../scripts/new-script-page.js'), 'NewScriptPage')
})
const script = createRoute({
  getParentRoute: () => signedIn,
  path: '/scripts/$id',
  validateSearch: readScriptTab,
  component: lazyPage(() => import('../scripts/script-page.js'), 'ScriptPage')
})
const capsules = createRoute({
  getParentRoute: () => signedIn,
  path: '/capsules',
  validateSearch: readCapsuleFilters,
  component: lazyPage(() => import('../capsules/list/capsules-page.js'), 'CapsulesPage')
})
const capsule = createRoute({
  getParentRoute: () => signedIn,
  path: '/capsules/$id',
  validateSearch: readCapsuleSearch,
  component: lazyPage(() => import('../capsules/capsule-page.js'), 'CapsulePage')
})
const backends = createRoute({
  getParentRoute: () => signedIn,
  path: '/backends',
  component: lazyPage(() => import('../backends/backends-page.js'), 'BackendsPage')
})
const audit = createRoute({
  getParentRoute: () => signedIn,
  path: '/audit',
  validateSearch: readTrailFilters,
  component: lazyPage(() => import('../audit/trail-page.js'), 'TrailPage')
})

const profile = createRoute({
  getParentRoute: () => signedIn,
  path: '/profile',
  component: lazyPage(() => import('../profile/profile-page.js'), 'ProfilePage')
})

/** Pages that visitors have too: what they do needs no account, or says where it does. */
const open = createRoute({
  getParentRoute: () => root,
  id: 'open',
  beforeLoad: ({ context }) => context.queryClient.ensureQueryData(sessionQuery).then(() => {}),
  component: ShellForAll,
  pendingComponent: PendingShell
})
const playground = createRoute({
  getParentRoute: () => open,
  path: '/run',
  component: lazyPage(() => import('../playground/playground-page.js'), 'PlaygroundPage')
})

const publicProfile = createRoute({
  getParentRoute: () => open,
  path: '/profiles/$username',
  component: lazyPage(() => import('../profile/public-profile-page.js'), 'PublicProfilePage')
})

const catalogue = createRoute({
  getParentRoute: () => open,
  path: '/public',
  validateSearch: readCatalogueFilters,
  component: lazyPage(() => import('../capsules/public/catalogue-page.js'), 'CataloguePage')
})
const publicCapsule = createRoute({
  getParentRoute: () => open,
  path: '/public/$slug',
  validateSearch: readPage,
  component: lazyPage(() => import('../capsules/public/public-page.js'), 'PublicPage')
})

const routeTree = root.addChildren([
  signIn,
  signUp,
  forgotPassword,
  resetPassword,
  invitation,
  open.addChildren([playground, catalogue, publicCapsule, publicProfile]),
  signedIn.addChildren([
    home,
    jobs,
    compare,
    job,
    scripts,
    newScript,
    script,
    capsules,
    capsule,
    backends,
    teamRoutes,
    audit,
    profile
  ]),
  adminRoutes
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
