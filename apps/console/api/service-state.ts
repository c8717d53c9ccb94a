// What all pages know about the service at the moment: whether it can be reached, until when it asks to wait, and whether the
// session has ended. The banners and the sign-in dialog show it.
import { useSyncExternalStore } from 'react'

export interface ServiceState {
  reachable: boolean
  /** Milliseconds since 1970; `null`: it asks for no wait. */
  waitUntil: number | null
  /** A session that was open has ended, and requests wait until its owner is signed in again. */
  sessionEnded: boolean
}

let state: ServiceState = { reachable: true, waitUntil: null, sessionEnded: false }
const listeners = new Set<() => void>()

export const serviceState = (): ServiceState => state

export function setServiceState(changes: Partial<ServiceState>): void {
  const same = Object.entries(changes).every(([name, value]) => state[name as keyof ServiceState] === value)
  if (same) return
  state = { ...state, ...changes }
  for (const listener of listeners) listener()
}

export function onServiceState(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Calls the listener when the session or the service is there again after it was not. */
export function onBack(listener: () => void): () => void {
  const isThere = () => state.reachable && !state.sessionEnded
  let before = isThere()
  return onServiceState(() => {
    const [was, is] = [before, isThere()]
    before = is
    if (is && !was) listener()
  })
}

export const useServiceState = (): ServiceState => useSyncExternalStore(onServiceState, serviceState)
