// A comparison in a thread of its own: with many outcomes it takes seconds.
import { browserComparison } from './browser-comparison.js'
import type { AskedComparison, ComparisonAnswer } from './compare-in-worker.js'

const scope = globalThis as unknown as {
  onmessage: ((event: { data: AskedComparison }) => void) | null
  postMessage(answer: ComparisonAnswer): void
}

scope.onmessage = ({ data: { run, job, margin } }) => {
  try {
    scope.postMessage({ comparison: browserComparison(run, job, margin) })
  } catch (error) {
    scope.postMessage({ fault: error instanceof Error ? error.message : String(error) })
  }
}
