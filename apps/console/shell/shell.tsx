// What surrounds every page of a signed-in user: navigation, the choice of the team, banners, sign-out.
import { useQuery } from '@tanstack/react-query'
import { Link, Outlet } from '@tanstack/react-router'
import { useEffect } from 'react'
import { sessionQuery } from '../api/queries.js'
import { Loading } from '../components/notice.js'
import { startTeamEvents } from '../live/team-events.js'
import { AccountMenu } from './account-menu.js'
import { Banners, ConnectionBanners } from './banners.js'
import { Keys } from './keys/keys.js'
import styles from './shell.module.css'
import { SignInAgain } from './sign-in-again.js'
import { useTeam } from './team.js'
import { TeamChoice, UnknownTeam } from './team-choice.js'

const pages = [
  { to: '/run', text: 'Playground' },
  { to: '/jobs', text: 'Jobs' },
  { to: '/scripts', text: 'Scripts' },
  { to: '/capsules', text: 'Capsules' },
  { to: '/backends', text: 'Backends' },
  { to: '/team', text: 'Team' },
  { to: '/audit', text: 'Audit' }
] as const

const adminPage = { to: '/admin', text: 'Administration' } as const

/** Around pages that need no account. */
export function ShellForAll() {
  const { data: session } = useQuery(sessionQuery)
  return session ? <Shell /> : <VisitorShell />
}

function VisitorShell() {
  return (
    <>
      <header className={styles.header}>
        <Link to="/run" className={styles.name}>
          Quantum Job Service
        </Link>
        <nav className={styles.nav} aria-label="Pages">
          <Link to="/run" activeProps={{ 'aria-current': 'page' }}>
            Playground
          </Link>
        </nav>
        <div className={styles.choices}>
          <nav className={styles.nav} aria-label="Account">
            <Link to="/public">Published capsules</Link>
            <Link to="/sign-in" search={{ return_to: '/run' }}>
              Sign in
            </Link>
            <Link to="/sign-up">Create an account</Link>
          </nav>
        </div>
      </header>
      <div className={styles.banners}>
        <ConnectionBanners />
      </div>
      <main id="page" className={styles.page}>
        <Outlet />
      </main>
    </>
  )
}

/** While it is not known yet whether there is a session: the service can ask to wait, or be away. */
export const PendingShell = () => (
  <main id="page" className={styles.page}>
    <h1 hidden>Quantum Job Service</h1>
    <div className={styles.banners}>
      <ConnectionBanners />
    </div>
    <Loading />
  </main>
)

export function Shell() {
  const session = useQuery(sessionQuery)
  const { unknown } = useTeam()
  const userId = session.data?.user.id
  useEffect(() => (userId === undefined ? undefined : startTeamEvents(userId)), [userId])
  // The route lets nobody in without a session; signing out takes it away while this is still on the page.
  if (!session.data) return <Loading />
  const { user, teams } = session.data
  return (
    <>
      <a className={styles.skip} href="#page">
        Skip to the page
      </a>
      <header className={styles.header}>
        <Link to="/jobs" className={styles.name}>
          Quantum Job Service
        </Link>
        <nav className={styles.nav} aria-label="Pages">
          {(user.is_platform_admin ? [...pages, adminPage] : pages).map(({ to, text }) => (
            <Link key={to} to={to} activeProps={{ 'aria-current': 'page' }}>
              {text}
            </Link>
          ))}
        </nav>
        <div className={styles.choices}>
          <TeamChoice teams={teams} />
          <AccountMenu user={user} />
        </div>
      </header>
      <Banners />
      <main id="page" className={styles.page} tabIndex={-1}>
        {unknown ? <UnknownTeam /> : <Outlet />}
      </main>
      <Keys />
      <SignInAgain user={user} />
    </>
  )
}
