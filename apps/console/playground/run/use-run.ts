// The one run of the page. A new one, cancelling and leaving the page all stop it.
import { useCallback, useEffect, useRef, useState } from 'react'
import { refusalAt } from '../../jobs/submit/settings.js'
import type { OnProgress } from '../../simulators/simulation.js'
import type { FinishedRun } from './finished-run.js'

export type RunState =
  | { kind: 'none' | 'cancelled' }
  /** `share` from 0 to 1; `null` where it is not known. */
  | { kind: 'running'; since: number; share: number | null }
  | { kind: 'done'; run: FinishedRun }
  | { kind: 'failed'; error: unknown }

export interface FieldFault {
  field: 'shots' | 'seed'
  text: string
}

/** What a failed run says of one field of the page, where it is shown. */
export function fieldFaultOf(state: RunState): FieldFault | null {
  if (state.kind !== 'failed' || !(state.error instanceof Error)) return null
  const fault = refusalAt(state.error.message)
  return fault && (fault.field === 'shots' || fault.field === 'seed') ? { field: fault.field, text: fault.text } : null
}

type Start = (signal: AbortSignal, onProgress: OnProgress) => Promise<FinishedRun>

export function useRun() {
  const [state, setState] = useState<RunState>({ kind: 'none' })
  const current = useRef<AbortController | null>(null)
  const stop = useCallback(() => {
    current.current?.abort(new Error('cancelled'))
    current.current = null
  }, [])
  useEffect(() => stop, [stop])
  const start = (begin: Start): void => {
    stop()
    const controller = new AbortController()
    current.current = controller
    const since = Date.now()
    const show = (next: RunState) => {
      if (current.current === controller) setState(next)
    }
    show({ kind: 'running', since, share: null })
    begin(controller.signal, (share) => show({ kind: 'running', since, share })).then(
      (run) => show({ kind: 'done', run }),
      (error: unknown) => show({ kind: 'failed', error })
    )
  }
  const cancel = () => {
    stop()
    setState({ kind: 'cancelled' })
  }
  return { state, start, cancel }
}
