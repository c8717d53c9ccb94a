// What changes in the caller's teams, as it happens. A browser has six connections for one service, so all its tabs share
// one stream: the tab that holds a lock has it open and tells the others.
import type { JobItem } from '../api/client.js'
import { isVisible, onVisibility } from './use-visible.js'

export type TeamEvent =
  /** Changes may have been missed: what is shown has to be read again. */
  | { type: 'resync' }
  | { type: 'job'; job_id: string; team_id: string; status: JobItem['status']; queue: JobItem['queue']; at: string }
  | { type: 'capsule_run'; capsule_run_id: string; capsule_id: string; team_id: string; status: string; at: string }

const types = ['resync', 'job', 'capsule_run'] as const satisfies readonly TeamEvent['type'][]
/** After a refusal: too many streams are open, or the session has ended. */
const REOPEN_MS = 15_000

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
  if (!navigator.locks || !('BroadcastChannel' in window)) return whileVisible(() => openStream(tell))
  const name = `events ${userId}`
  const channel = new BroadcastChannel(name)
  channel.onmessage = ({ data }: MessageEvent<TeamEvent>) => tell(data)
  const ending = new AbortController()
  const lead = () =>
    new Promise<void>((resolve) => {
      const close = openStream((event) => {
        channel.postMessage(event)
        tell(event)
      })
      ending.signal.addEventListener('abort', () => {
        close()
        resolve()
      })
    })
  // A browser does not freeze a tab that holds a lock, so the leader tells the others while it is hidden too.
  navigator.locks.request(name, { signal: ending.signal }, lead).catch((error: unknown) => {
    if (!ending.signal.aborted) throw error
  })
  return () => {
    ending.abort()
    channel.close()
  }
}

/** @returns closes the stream. */
function openStream(onEvent: (event: TeamEvent) => void): () => void {
  let source: EventSource
  let reopening: ReturnType<typeof setTimeout> | undefined
  const open = () => {
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
  return () => {
    clearTimeout(reopening)
    source.close()
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
