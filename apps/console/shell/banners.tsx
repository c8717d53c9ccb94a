// What holds for every page at the moment.
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { backendsQuery } from '../api/queries.js'
import { useServiceState } from '../api/service-state.js'
import { Notice } from '../components/notice.js'
import { shownText } from '../text/shown-text.js'
import styles from './shell.module.css'
import { useTeam } from './team.js'

export function Banners() {
  const { team, left } = useTeam()
  const { reachable } = useServiceState()
  const emulated = useQuery({
    ...backendsQuery,
    select: ({ backends }) => backends.some((backend) => backend.emulated)
  })
  return (
    <div className={styles.banners}>
      <ConnectionBanners />
      {team && left ? (
        <Notice tone="warn">
          You do not belong to the team {shownText(team.name)} any more. This page shows what was read before. Copy what
          you still need, then choose another team.
        </Notice>
      ) : null}
      {team?.suspended ? (
        <Notice tone="warn">
          The team {team.name} is suspended and can be read only.
          {team.suspended_reason ? ` Reason: ${team.suspended_reason}` : ''}
        </Notice>
      ) : null}
      {reachable && emulated.data ? (
        <Notice>Emulators run the jobs of hardware providers here. Results and prices are not real.</Notice>
      ) : null}
    </div>
  )
}

/** For pages without a session too. */
export function ConnectionBanners() {
  const { reachable, waitUntil } = useServiceState()
  return (
    <>
      {reachable ? null : (
        <Notice tone="bad">The service cannot be reached. The page continues as soon as it is back.</Notice>
      )}
      {waitUntil === null ? null : <WaitBanner until={waitUntil} />}
    </>
  )
}

function WaitBanner({ until }: { until: number }) {
  const secondsLeft = () => Math.max(0, Math.ceil((until - Date.now()) / 1_000))
  const [seconds, setSeconds] = useState(secondsLeft)
  useEffect(() => {
    const timer = setInterval(() => setSeconds(secondsLeft()), 1_000)
    return () => clearInterval(timer)
  })
  return (
    <Notice tone="warn">Too many requests: the page waits {seconds} s, as the service asks, and then continues.</Notice>
  )
}
