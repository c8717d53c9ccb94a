// What happens to a job, as it happens. The stream is open only while the page is seen: a browser has six connections for one
// service, and a seventh page would never load.
import { useEffect, useRef, useState } from 'react'
import type { JobStatus } from '../../api/client.js'
import { useVisible } from '../../live/use-visible.js'

export interface StatusEvent {
  seq: number
  type: 'status'
  status: JobStatus
  reason: string | null
  at: string
}
export interface AttemptEvent {
  seq: number
  type: 'attempt'
  task: string
  number: number
  state: string
  at: string
}
export interface OutputEvent {
  seq: number
  type: 'output'
  task?: string
  attempt: number
  text: string
  truncated_bytes?: number
  at: string
}
export type JobEvent = StatusEvent | AttemptEvent | OutputEvent

/** A graph of 2,000 tasks has thousands of events, which are added to the page together. */
const GATHER_MS = 100
/** Events come in bursts; what they change is read once for a burst. */
const BURST_MS = 500
/** Reads of a person count against a limit for a minute. */
const REFRESH_MS = 2_000
/** After a refusal of the stream: too many are open, or the session has ended. */
const REOPEN_MS = 15_000

/**
 * All events of the job so far, in order.
 * @param ended whether its record shows that it has ended: no event follows.
 * @param onChange is called, not too often, after something changed.
 */
export function useJobEvents(id: string, ended: boolean, onChange: () => void): readonly JobEvent[] {
  const [events, setEvents] = useState<readonly JobEvent[]>([])
  const [complete, setComplete] = useState(false)
  const [round, setRound] = useState(0)
  const visible = useVisible()
  const latest = useRef({ ended, onChange })
  latest.current = { ended, onChange }

  useEffect(() => {
    if (!visible || complete) return
    const source = new EventSource(`/api/jobs/${encodeURIComponent(id)}/events`)
    const refresh = createThrottle(() => latest.current.onChange())
    let gathered: JobEvent[] = []
    let gathering: ReturnType<typeof setTimeout> | undefined
    const show = () => {
      const some = gathered
      gathered = []
      gathering = undefined
      setEvents((known) => {
        const last = known.at(-1)?.seq ?? -1
        return [...known, ...some.filter(({ seq }) => seq > last)]
      })
    }
    const add = ({ data }: MessageEvent<string>) => {
      const event = JSON.parse(data) as JobEvent
      gathered.push(event)
      gathering ??= setTimeout(show, GATHER_MS)
      if (event.type !== 'output' && !latest.current.ended) refresh.soon()
    }
    for (const type of ['status', 'attempt', 'output']) source.addEventListener(type, add)
    let reopening: ReturnType<typeof setTimeout> | undefined
    // The service ends the stream after the last event. Otherwise the browser connects again and continues, but gives up
    // where it is refused.
    source.onerror = () => {
      if (latest.current.ended) return setComplete(true)
      refresh.soon()
      if (source.readyState === EventSource.CLOSED) reopening = setTimeout(() => setRound(round + 1), REOPEN_MS)
    }
    return () => {
      clearTimeout(reopening)
      clearTimeout(gathering)
      source.close()
      show()
      refresh.cancel()
    }
  }, [id, visible, complete, round])
  return events
}

function createThrottle(act: () => void) {
  let timer: ReturnType<typeof setTimeout> | undefined
  let last = Number.NEGATIVE_INFINITY
  return {
    soon() {
      if (timer !== undefined) return
      const wait = Math.max(BURST_MS, last + REFRESH_MS - performance.now())
      timer = setTimeout(() => {
        timer = undefined
        last = performance.now()
        act()
      }, wait)
    },
    cancel() {
      clearTimeout(timer)
    }
  }
}
