import type { components } from '../../../api/schema.js'
import type { BrowserSide, JobSide } from './browser-comparison.js'

type JobComparison = components['schemas']['JobComparison']

export interface AskedComparison {
  run: BrowserSide
  job: JobSide
  margin: number | null
}

export type ComparisonAnswer = { comparison: JobComparison } | { fault: string }

/** As long as the service compares two jobs. */
const SECONDS_MAX = 20

/** The worker is gone once the comparison has ended, however it ended. */
export function compareInWorker(asked: AskedComparison, signal: AbortSignal): Promise<JobComparison> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const worker = new Worker(new URL('./comparison.worker.ts', import.meta.url), { type: 'module' })
    const end = (settle: () => void): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', cancel)
      worker.terminate()
      settle()
    }
    const fail = (message: string) => end(() => reject(new Error(message)))
    const cancel = (): void => end(() => reject(signal.reason))
    const timer = setTimeout(() => fail(`The comparison takes longer than ${SECONDS_MAX} s here.`), 1_000 * SECONDS_MAX)
    signal.addEventListener('abort', cancel)
    worker.onmessage = ({ data }: MessageEvent<ComparisonAnswer>) =>
      'fault' in data ? fail(`The results cannot be compared: ${data.fault}`) : end(() => resolve(data.comparison))
    worker.onerror = ({ message }) => fail(message || 'The comparison could not be started.')
    worker.postMessage(asked)
  })
}
