// Records what a program prints while it runs, so that others can follow it. Nothing waits for this but the end of the
// execution, and no failure of it is one of the job.
import pLimit from 'p-limit'
import type { Db } from '../../db/client.js'
import type { AnnounceJob } from '../../db/jobs/job-changes.js'
import { appendOutput } from '../../db/jobs/job-events.js'
import { reasonOf } from '../../domain/operations/reason.js'
import type { OnPrinted } from '../../services/executor/stream.js'
import { outputBuffer } from './output-buffer.js'
import { retryWhileDatabaseAway } from './retry-while-database-away.js'

/** Of all attempts in this process. Many tasks of a job wait for the same row, and other work needs the other connections. */
const WRITES_AT_ONCE = 4
/** A part is tried again when more was recorded than was known, which a second try then knows. */
const TRIES = 3

const turn = pLimit(WRITES_AT_ONCE)

export interface OutputDeps {
  db: Db
  announce: AnnounceJob
  log: { warn(detail: object, message: string): void }
}

export interface LiveOutput {
  /** Takes a piece and returns at once. */
  printed: OnPrinted
  /** Waits for the execution, and until what it has printed is recorded. */
  during<T>(execution: Promise<T>): Promise<T>
}

/**
 * @param task `''` for the job itself.
 * @param attempt the number of the attempt once it is open; `null` when this worker has lost the job.
 */
export function liveOutput(
  { db, log, announce }: OutputDeps,
  { jobId, task, signal }: { jobId: string; task: string; signal: AbortSignal },
  attempt: () => Promise<number | null>
): LiveOutput {
  const buffer = outputBuffer()
  let writing: Promise<void> | null = null
  let ended = false
  let closed = false
  let warned = false

  /** @returns whether nothing is left to record for now. */
  async function write(): Promise<boolean> {
    // The step itself reports why it could not be opened.
    const number = await attempt().catch(() => null)
    if (number === null) closed = true
    for (let tries = 0; !closed && tries < TRIES; ) {
      const part = buffer.next(ended)
      if (!part) return true
      const stored = await turn(() => appendOutput(db, { jobId, task, number: number! }, buffer.recorded, part))
      if (stored === 'stored') {
        buffer.stored(part)
        announce(jobId)
        tries = 0
        continue
      }
      tries++
      if (stored === 'closed') closed = true
      else if (stored === 'full') buffer.countOnly()
      else buffer.continueAfter(stored)
    }
    return closed
  }

  function warn(error: unknown): false {
    if (!warned) log.warn({ jobId, task, reason: reasonOf(error) }, 'the output of a program was not recorded')
    warned = true
    return false
  }

  function writeSoon(): void {
    writing ??= write()
      .catch(warn)
      .then((written) => {
        writing = null
        // What came after the last look. After a failure, the next piece or the end tries again.
        if (written && !closed && buffer.next(false)) writeSoon()
      })
  }

  return {
    printed(piece) {
      if (closed || ended) return
      buffer.add(piece)
      writeSoon()
    },
    async during(execution) {
      try {
        return await execution
      } finally {
        while (writing) await writing
        ended = true
        if (!closed && buffer.next(true)) await retryWhileDatabaseAway({ log, jobId, signal }, write).catch(warn)
      }
    }
  }
}
