import { useEffect, useState } from 'react'

/** Nothing is asked while someone types. */
const QUIET_MS = 400

/** The last value that stayed for a moment. An object counts as another one unless it is the same. */
export function useQuiet<Value>(value: Value): Value {
  const [quiet, setQuiet] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setQuiet(value), QUIET_MS)
    return () => clearTimeout(timer)
  }, [value])
  return quiet
}
