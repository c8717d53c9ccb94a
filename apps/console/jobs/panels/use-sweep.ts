import { useEffect, useState } from 'react'
import { fetchPart } from '../../api/client.js'
import { onBack } from '../../api/service-state.js'
import type { Reading } from '../../results/counts.js'
import { type SweepClient, type SweepWorker, sweepClient } from '../../results/sweep-messages.js'
import type { SweepOverview } from '../../results/sweep-reader.js'
import { resultPath } from '../record/job-queries.js'

export type OpenedSweep =
  | { state: 'opening' }
  | { state: 'failed'; error: unknown }
  | { state: 'open'; client: SweepClient; overview: Reading<SweepOverview> }

/** The bundler finds a worker's file by these very words. */
const startWorker = () =>
  new Worker(new URL('../../results/sweep.worker.ts', import.meta.url), { type: 'module' }) as unknown as SweepWorker

/**
 * The result of a sweep, opened in a worker that lives as long as the page.
 * @param known its text, where the page has it.
 */
export function useSweep(id: string, known: string | null): OpenedSweep {
  const [opened, setOpened] = useState<OpenedSweep>({ state: 'opening' })
  useEffect(() => {
    const leaving = new AbortController()
    const client = sweepClient(startWorker())
    let failed = false
    const open = async () => {
      failed = false
      const bytes =
        known === null
          ? await (await fetchPart(resultPath(id), leaving.signal)).arrayBuffer()
          : new TextEncoder().encode(known).buffer
      const overview = await client.open(bytes)
      if (overview === null) throw new Error('the result is not that of a sweep')
      if (!leaving.signal.aborted) setOpened({ state: 'open', client, overview })
    }
    const tryOpen = () =>
      open().catch((error: unknown) => {
        failed = true
        if (!leaving.signal.aborted) setOpened({ state: 'failed', error })
      })
    void tryOpen()
    const forget = onBack(() => {
      if (failed) void tryOpen()
    })
    return () => {
      forget()
      leaving.abort()
      client.end()
    }
  }, [id, known])
  return opened
}
