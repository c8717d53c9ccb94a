// Keeps a list of jobs as new as the stream of the teams: a change is shown at once, and the pages that it touched are read
// again when they are seen. A hidden tab reads nothing.

import type { QueryClient } from '@tanstack/react-query'
import type { SeenRows } from '../../components/windowed/use-row-window.js'
import { onTeamEvent } from '../../live/team-events.js'
import { createThrottle } from '../../live/throttle.js'
import { isVisible, onVisibility } from '../../live/use-visible.js'
import { type ListPage, type ListPages, withChange, withPage } from './list-pages.js'

/** Reads of a person count against a limit for a minute. */
const READ = { burstMs: 300, everyMs: 2_000 }

export interface ListOfJobs {
  queryKey: readonly unknown[]
  teamId: string | undefined
  read(cursor: string | null): Promise<ListPage>
}

export function createListReader(queryClient: QueryClient, { queryKey, teamId, read }: ListOfJobs) {
  const old = new Set<number>()
  let seen: SeenRows = { from: 0, to: 0 }
  let stopped = false
  const data = () => queryClient.getQueryData<ListPages>(queryKey)
  const set = (changed: ListPages) => queryClient.setQueryData<ListPages>(queryKey, changed)

  async function readOld(): Promise<void> {
    for (const page of [...old]) {
      const known = data()
      if (!known || stopped || !isVisible()) return
      // The first page is where new jobs appear, and what the total is taken from.
      if (page !== 0 && !isSeen(known, page, seen)) continue
      const cursor = known.pageParams[page] ?? null
      old.delete(page)
      try {
        const fresh = await read(cursor)
        const now = data()
        if (now && (now.pageParams[page] ?? null) === cursor) set(withPage(now, page, fresh))
      } catch {
        // A lost connection is named by its banner, and followed by another resync.
        old.add(page)
        return
      }
    }
  }

  const soon = createThrottle(() => void readOld(), READ)
  const allIsOld = () => {
    old.add(0)
    for (const page of data()?.pages.keys() ?? []) old.add(page)
    soon.soon()
  }

  return {
    /** Follows what changes. @returns stops. */
    start() {
      // Since the list was shown last, nothing was followed.
      if (data()) allIsOld()
      const forget = [
        onVisibility(() => isVisible() && old.size > 0 && soon.soon()),
        onTeamEvent((event) => {
          if (event.type === 'resync') return allIsOld()
          if (event.type !== 'job' || (teamId !== undefined && event.team_id !== teamId)) return
          const known = data()
          const changed = known ? withChange(known, event) : null
          if (changed) set(changed.data)
          // A job that the list does not have can be a new one, or match its filters now.
          old.add(changed?.page ?? 0)
          soon.soon()
        })
      ]
      return () => {
        stopped = true
        soon.cancel()
        for (const end of forget) end()
      }
    },
    see(rows: SeenRows) {
      seen = rows
      if (old.size > 0) soon.soon()
    }
  }
}

function isSeen({ pages }: ListPages, page: number, seen: SeenRows): boolean {
  const known = pages[page]
  if (!known) return false
  const begin = pages.slice(0, page).reduce((sum, { jobs }) => sum + jobs.length, 0)
  return begin < seen.to && begin + known.jobs.length > seen.from
}
