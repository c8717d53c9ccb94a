// How long a page keeps its thread: what it does between two frames stops scrolling and typing.
import type { Page } from 'playwright-core'

interface TraceEvent {
  name: string
  ph: string
  pid: number
  tid: number
  /** Microseconds on the processor; `dur` counts the waits for a busy machine too. */
  tdur?: number
  dur?: number
  args?: { name?: string }
}

/** The longest task of any page of the browser while `act` runs, in milliseconds of processor time. */
export async function longestTaskMs(page: Page, act: () => Promise<unknown>): Promise<number> {
  const browser = page.context().browser()!
  await browser.startTracing(page, { categories: ['toplevel', 'disabled-by-default-devtools.timeline'] })
  let trace: Buffer
  try {
    await act()
  } finally {
    trace = await browser.stopTracing()
  }
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: TraceEvent[] }
  const threadOf = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`
  const pages = new Set(
    traceEvents.filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain').map(threadOf)
  )
  const tasks = traceEvents.filter(
    (event) => event.name.endsWith('RunTask') && event.ph === 'X' && pages.has(threadOf(event))
  )
  if (tasks.length === 0) throw new Error('the trace has no task of a page')
  return Math.max(...tasks.map(({ tdur, dur }) => tdur ?? dur ?? 0)) / 1_000
}
