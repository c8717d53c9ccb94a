/** Calls `act` soon after it was asked to, at most once in `everyMs`. A burst of requests is one. */
export function createThrottle(act: () => void, { burstMs, everyMs }: { burstMs: number; everyMs: number }) {
  let timer: ReturnType<typeof setTimeout> | undefined
  let last = Number.NEGATIVE_INFINITY
  return {
    soon() {
      if (timer !== undefined) return
      const wait = Math.max(burstMs, last + everyMs - performance.now())
      timer = setTimeout(() => {
        timer = undefined
        last = performance.now()
        act()
      }, wait)
    },
    cancel() {
      clearTimeout(timer)
      timer = undefined
    }
  }
}
