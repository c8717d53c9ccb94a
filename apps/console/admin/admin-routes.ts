// The pages of platform administrators. To others they are not there: they get the page of an unknown address, and their browser
// loads nothing of these.
import { createRoute, notFound, redirect } from '@tanstack/react-router'
import { sessionQuery } from '../api/queries.js'
import { lazyPage } from '../shell/lazy-page.js'
import { readPage } from '../shell/page-number.js'
import { root, text } from '../shell/root-route.js'
import { Shell } from '../shell/shell.js'

const administrators = createRoute({
  getParentRoute: () => root,
  id: 'administrators',
  beforeLoad: async ({ context }) => {
    const session = await context.queryClient.ensureQueryData(sessionQuery)
    if (!session?.user.is_platform_admin) throw notFound()
  },
  component: Shell
})

const admin = createRoute({
  getParentRoute: () => administrators,
  path: '/admin',
  component: lazyPage(() => import('./admin-layout.js'), 'AdminLayout')
})

/** Keeps those of the names that the address holds as text. */
const texts =
  <Name extends string>(...names: Name[]) =>
  (search: Record<string, unknown>): Partial<Record<Name, string>> =>
    Object.fromEntries(names.flatMap((name) => (text(search[name]) ? [[name, text(search[name])]] : []))) as Partial<
      Record<Name, string>
    >

const readSearch = (search: Record<string, unknown>) => ({ ...texts('q')(search), ...readPage(search) })

const home = createRoute({
  getParentRoute: () => admin,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/admin/system', replace: true })
  }
})
const system = createRoute({
  getParentRoute: () => admin,
  path: '/system',
  component: lazyPage(() => import('./system/system-page.js'), 'SystemPage')
})
const money = createRoute({
  getParentRoute: () => admin,
  path: '/money',
  component: lazyPage(() => import('./money/money-page.js'), 'MoneyPage')
})
const teams = createRoute({
  getParentRoute: () => admin,
  path: '/teams',
  validateSearch: readSearch,
  component: lazyPage(() => import('./people/teams-page.js'), 'TeamsPage')
})
const team = createRoute({
  getParentRoute: () => admin,
  path: '/teams/$id',
  component: lazyPage(() => import('./people/team-page.js'), 'TeamPage')
})
const users = createRoute({
  getParentRoute: () => admin,
  path: '/users',
  validateSearch: readSearch,
  component: lazyPage(() => import('./people/users-page.js'), 'UsersPage')
})
const jobs = createRoute({
  getParentRoute: () => admin,
  path: '/jobs',
  validateSearch: (search: Record<string, unknown>) => ({ ...readSearch(search), ...texts('status')(search) }),
  component: lazyPage(() => import('./jobs/any-jobs-page.js'), 'AnyJobsPage')
})
const job = createRoute({
  getParentRoute: () => admin,
  path: '/jobs/$id',
  component: lazyPage(() => import('./jobs/any-job-page.js'), 'AnyJobPage')
})
const accessCodes = createRoute({
  getParentRoute: () => admin,
  path: '/access-codes',
  validateSearch: readPage,
  component: lazyPage(() => import('./access-codes-page.js'), 'AccessCodesPage')
})
const backends = createRoute({
  getParentRoute: () => admin,
  path: '/backends',
  component: lazyPage(() => import('./backends/admin-backends-page.js'), 'AdminBackendsPage')
})
const capsules = createRoute({
  getParentRoute: () => admin,
  path: '/capsules',
  validateSearch: readSearch,
  component: lazyPage(() => import('./public-capsules-page.js'), 'PublicCapsulesPage')
})
const audit = createRoute({
  getParentRoute: () => admin,
  path: '/audit',
  validateSearch: texts('action', 'from', 'to'),
  component: lazyPage(() => import('./admin-audit-page.js'), 'AdminAuditPage')
})

export const adminRoutes = administrators.addChildren([
  admin.addChildren([home, system, money, teams, team, users, jobs, job, accessCodes, backends, capsules, audit])
])
