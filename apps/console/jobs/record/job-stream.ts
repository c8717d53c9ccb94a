// What happens to a job, as it happens. The stream is open only while the page is seen, and of a few pages at a time: a
// browser has six connections for one service, and a seventh page would never load. A page without a stream reads the events
// whenever the stream of the teams names its job.
import { useEffect, useRef, useState } from 'react'
import { onBack } from '../../api/service-state.js'
import { takeStreamSlot } from '../../live/stream-slots.js'
import { onTeamEvent } from '../../live/team-events.js'
import { createThrottle } from '../../live/throttle.js'
import { useVisible } from '../../live/use-visible.js'
import type { JobEvent } from './job-event.js'

/** A graph of 2,000 tasks has thousands of events, which are added to the page together. */
const GATHER_MS = 100
/** Events come in bursts, what they change is read once for a burst; and reads of a person count against a limit. */
const REFRESH = { burstMs: 500, everyMs: 2_000 }
/** The service writes the time of a response in whole seconds, and that of an event by the clock of its database. */
const CLOCK_MARGIN_MS = 2_000
/** After a refusal of the stream: too many are open, or the session has ended. Sooner when the session or the service is back. */
const REOPEN_MS = 15_000

/**
 * All events of the job so far, in order.
 * @param known whether its record shows that it has ended, so that no event follows, and when that was read.
 * @param onChange is called, not too often, after something changed since then.
 */
export function useJobEvents(
  id: string,
  known: { ended: boolean; readAt: number },
  onChange: () => void
): readonly JobEvent[] {
  const [events, setEvents] = useState<readonly JobEvent[]>([])
  const [complete, setComplete] = useState(false)
  const visible = useVisible()
  const latest = useRef({ ...known, onChange })
  latest.current = { ...known, onChange }

  useEffect(() => {
    if (!visible || complete) return
    const isEnded = () => latest.current.ended
    const refresh = createThrottle(() => latest.current.onChange(), REFRESH)
    const gathered = createGathering((some) => {
      setEvents((known) => {
        const last = known.at(-1)?.seq ?? -1
        return [...known, ...some.filter(({ seq }) => seq > last)]
      })
    })
    const close = openJobStream(id, isEnded, {
      onEvent(event) {
        gathered.add(event)
        const isNews = Date.parse(event.at) > latest.current.readAt - CLOCK_MARGIN_MS
        if (event.type !== 'output' && isNews && !isEnded()) refresh.soon()
      },
      onLost: () => refresh.soon(),
      onComplete: () => setComplete(true)
    })
    return () => {
      close()
      gathered.show()
      refresh.cancel()
    }
  }, [id, visible, complete])
  return events
}

interface Listener {
  onEvent(event: JobEvent): void
  /** The connection is lost, or the stream refused. */
  onLost(): void
  /** No event follows. */
  onComplete(): void
}

/** @returns closes the stream. */
function openJobStream(id: string, isEnded: () => boolean, { onEvent, onLost, onComplete }: Listener): () => void {
  let source: EventSource | null = null
  let release: (() => void) | null = null
  let reopening: ReturnType<typeof setTimeout> | undefined
  let closed = false
  const path = `/api/jobs/${encodeURIComponent(id)}/events`

  let opening = false
  const open = async () => {
    if (opening) return
    opening = true
    source?.close()
    release ??= await takeStreamSlot()
    opening = false
    if (closed) return release?.()
    const isLive = release !== null
    const opened = new EventSource(isLive ? path : `${path}?follow=false`)
    source = opened
    for (const type of ['status', 'attempt', 'output'])
      opened.addEventListener(type, ({ data }: MessageEvent<string>) => onEvent(JSON.parse(data) as JobEvent))
    // The service ends the stream after the last event. Otherwise the browser connects again and continues, but gives up
    // where it is refused.
    opened.onerror = () => {
      if (!isLive) opened.close()
      if (isEnded()) return onComplete()
      if (!isLive) return
      onLost()
      if (opened.readyState === EventSource.CLOSED) reopening = setTimeout(reopen, REOPEN_MS)
    }
  }
  const reopen = () => {
    clearTimeout(reopening)
    reopening = undefined
    void open()
  }
  void open()
  const forgetBack = onBack(() => {
    if (reopening !== undefined) reopen()
  })
  const again = createThrottle(() => {
    // By now it can have got a stream of its own, which needs no second opening.
    if (release === null) void open()
  }, REFRESH)
  const forget = onTeamEvent((event) => {
    if (release === null && (event.type === 'resync' || (event.type === 'job' && event.job_id === id))) again.soon()
  })
  return () => {
    closed = true
    forget()
    forgetBack()
    again.cancel()
    clearTimeout(reopening)
    source?.close()
    release?.()
  }
}

function createGathering(show: (events: readonly JobEvent[]) => void) {
  let gathered: JobEvent[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  const gathering = {
    add(event: JobEvent) {
      gathered.push(event)
      timer ??= setTimeout(gathering.show, GATHER_MS)
    },
    show() {
      clearTimeout(timer)
      timer = undefined
      const some = gathered
      gathered = []
      if (some.length > 0) show(some)
    }
  }
  return gathering
}
