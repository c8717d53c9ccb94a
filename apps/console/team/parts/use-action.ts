// What a press starts. Unlike a mutation of the query client it keeps nothing of what was sent or came back: passwords,
// credentials and keys that are shown once are nowhere afterwards.
import { useState } from 'react'

export interface Action {
  pending: boolean
  error: unknown
  /** Resolves to whether it succeeded. */
  run(act: () => Promise<unknown>): Promise<boolean>
  clear(): void
}

const idle = { pending: false, error: null as unknown }

export function useAction(): Action {
  const [state, setState] = useState(idle)
  return {
    ...state,
    async run(act) {
      setState({ pending: true, error: null })
      try {
        await act()
        setState(idle)
        return true
      } catch (error) {
        setState({ pending: false, error })
        return false
      }
    },
    clear: () => setState(idle)
  }
}
