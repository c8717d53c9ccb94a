import { useEffect, useRef, useState } from 'react'

/** A value that changes at most once in so many milliseconds; the last one always arrives. */
export function useAtMostEvery<Value>(value: Value, milliseconds: number): Value {
  const [shown, setShown] = useState(value)
  const changedAt = useRef(0)
  useEffect(() => {
    if (Object.is(shown, value)) return
    const wait = Math.max(0, changedAt.current + milliseconds - performance.now())
    const timer = setTimeout(() => {
      changedAt.current = performance.now()
      setShown(() => value)
    }, wait)
    return () => clearTimeout(timer)
  }, [shown, value, milliseconds])
  return shown
}
