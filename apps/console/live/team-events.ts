// What changes in the caller's teams, as it happens. A browser has six connections for one service, so all its tabs share
// one stream: the tab that holds a lock has it open and tells the others.
import type { JobItem } from '../api/client.js'
import { onBack } from '../api/service-state.js'
import { isVisible, onVisibility } from './use-visible.js'

export type TeamEvent =
  /** Changes may have been missed: what is shown has to be read again. */
  | { type: 'resync' }
  | { type: 'job'; job_id: string; team_id: string; status: JobItem['status']; queue: JobItem['queue']; at: string }
  | { type: 'capsule_run'; capsule_run_id: string; capsule_id: string; team_id: string; status: string; at: string }

const types = ['resync', 'job', 'capsule_run'] as const satisfies readonly TeamEvent['type'][]
/** After a refusal: too many streams are open, or the session has ended. Sooner when the session or the service is back. */
const REOPEN_MS = 15_000

/** What tabs tell each other: an event, or that a stream that was refused can be opened again now. */
type Message = TeamEvent | { type: 'reopen' }

const listeners = new Set<(event: TeamEvent) => void>()

export function onTeamEvent(listener: (event: TeamEvent) => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

function tell(event: TeamEvent): void {
  for (const listener of listeners) listener(event)
}

/** Begins to listen for a user. @returns ends it. */
export function startTeamEvents(userId: string): () => void {
  // The browser has neither lock nor channel on http beyond loopback. Then each tab that is seen has a stream of its own.
  if (!navigator.locks || !('BroadcastChannel' in window)) return whileVisible(() => streamThatReturns(tell))
  const name = `events ${userId}`
  const channel = new BroadcastChannel(name)
  let stream: Stream | null = null
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data.type === 'reopen') stream?.reopen()
    else tell(data)
  }
  const reopenAnywhere = () => {
    channel.postMessage({ type: 'reopen' } satisfies Message)
    stream?.reopen()
  }
  const ending = new AbortController()
  const lead = () =>
    new Promise<void>((resolve) => {
      const opened = openStream((event) => {
        channel.postMessage(event satisfies Message)
        tell(event)
      })
      stream = opened
      ending.signal.addEventListener('abort', () => {
        opened.close()
        resolve()
      })
    })
  // The stream may be of another tab than the one in which its user signs in again, and that tab notices nothing of it.
  reopenAnywhere()
  const forget = onBack(reopenAnywhere)
  // A browser does not freeze a tab that holds a lock, so the leader tells the others while it is hidden too.
  navigator.locks.request(name, { signal: ending.signal }, lead).catch((error: unknown) => {
    if (!ending.signal.aborted) throw error
  })
  return () => {
    forget()
    ending.abort()
    channel.close()
  }
}

interface Stream {
  /** Opens it now, if it was refused. */
  reopen(): void
  close(): void
}

function openStream(onEvent: (event: TeamEvent) => void): Stream {
  let source: EventSource
  let reopening: ReturnType<typeof setTimeout> | undefined
  const open = () => {
    reopening = undefined
    source = new EventSource('/api/events')
    for (const type of types)
      source.addEventListener(type, ({ data }: MessageEvent<string>) => {
        onEvent({ ...(JSON.parse(data) as object), type } as TeamEvent)
      })
    // After a lost connection the browser connects again by itself, but gives up where it is refused.
    source.onerror = () => {
      if (source.readyState === EventSource.CLOSED) reopening = setTimeout(open, REOPEN_MS)
    }
  }
  open()
  return {
    reopen() {
      if (reopening === undefined) return
      clearTimeout(reopening)
      open()
    },
    close() {
      clearTimeout(reopening)
      source.close()
    }
  }
}

/** A stream that is opened again with the session and the service. @returns closes it. */
function streamThatReturns(onEvent: (event: TeamEvent) => void): () => void {
  const stream = openStream(onEvent)
  const forget = onBack(stream.reopen)
  return () => {
    forget()
    stream.close()
  }
}

function whileVisible(start: () => () => void): () => void {
  let stop: (() => void) | null = null
  const look = () => {
    if (isVisible()) stop ??= start()
    else {
      stop?.()
      stop = null
    }
  }
  look()
  const forget = onVisibility(look)
  return () => {
    forget()
    stop?.()
  }
}
