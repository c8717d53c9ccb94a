// The pages of a team.
import { createRoute, redirect } from '@tanstack/react-router'
import { lazyPage } from '../shell/lazy-page.js'
import { text } from '../shell/root-route.js'
import { signedIn } from '../shell/signed-in-route.js'

const team = createRoute({
  getParentRoute: () => signedIn,
  path: '/team',
  component: lazyPage(() => import('./team-page.js'), 'TeamPage')
})
const home = createRoute({
  getParentRoute: () => team,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/team/members', replace: true })
  }
})
const page = <Path extends string>(path: Path, component: ReturnType<typeof lazyPage>) =>
  createRoute({ getParentRoute: () => team, path, component })
const members = page(
  '/members',
  lazyPage(() => import('./members/members-page.js'), 'MembersPage')
)
const invitations = page(
  '/invitations',
  lazyPage(() => import('./invitations/invitations-page.js'), 'InvitationsPage')
)
const credentials = page(
  '/credentials',
  lazyPage(() => import('./credentials/credentials-page.js'), 'CredentialsPage')
)
const keys = page(
  '/keys',
  lazyPage(() => import('./keys/keys-page.js'), 'KeysPage')
)
const webhooks = page(
  '/webhooks',
  lazyPage(() => import('./webhooks/webhooks-page.js'), 'WebhooksPage')
)
const budget = page(
  '/budget',
  lazyPage(() => import('./money/budget-page.js'), 'BudgetPage')
)
const retention = page(
  '/retention',
  lazyPage(() => import('./retention/retention-page.js'), 'RetentionPage')
)
const usage = createRoute({
  getParentRoute: () => team,
  path: '/usage',
  validateSearch: ({ month }: Record<string, unknown>): { month?: string } => {
    const given = text(month)
    return given === undefined ? {} : { month: given }
  },
  component: lazyPage(() => import('./money/usage-page.js'), 'UsagePage')
})

export const teamRoutes = team.addChildren([
  home,
  members,
  invitations,
  credentials,
  keys,
  webhooks,
  budget,
  usage,
  retention
])
