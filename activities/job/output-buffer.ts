// What an attempt prints and the database does not have yet. An execution that is replayed in its attempt prints from the
// start again; what is recorded already is left out, by its length.
import type { OutputPart, OutputRecorded } from '../../db/jobs/job-events.js'
import type { PrintedPiece } from '../../services/executor/stream.js'

export interface OutputBuffer {
  add(piece: PrintedPiece): void
  /**
   * The next part to record; `null` when nothing is left.
   * @param last nothing more is printed: a count that has grown since the cut is a part too.
   */
  next(last: boolean): OutputPart | null
  readonly recorded: OutputRecorded
  /** The part that `next` returned is recorded. */
  stored(part: OutputPart): void
  /** More is recorded than was known. */
  continueAfter(recorded: OutputRecorded): void
  /** No more text is stored: it is only counted. */
  countOnly(): void
}

export function outputBuffer(): OutputBuffer {
  let waiting = Buffer.alloc(0)
  /** Where the text after `waiting` begins. */
  let end = 0
  let droppedThere = 0
  let droppedHere = 0
  let full = false
  let recorded: OutputRecorded = { bytes: 0, dropped: 0 }

  function count(): void {
    droppedHere += waiting.length
    waiting = Buffer.alloc(0)
  }

  return {
    get recorded() {
      return recorded
    },
    add({ offset, text, truncatedBytes }) {
      droppedThere = Math.max(droppedThere, truncatedBytes)
      const bytes = Buffer.from(text, 'utf8')
      // Text before `end` came from an earlier execution too.
      const fresh = bytes.subarray(Math.min(bytes.length, Math.max(0, end - offset)))
      if (fresh.length === 0) return
      waiting = Buffer.concat([waiting, fresh])
      end = offset + bytes.length
      if (full) count()
    },
    next(last) {
      const dropped = Math.max(recorded.dropped, droppedThere + droppedHere)
      const cut = dropped > recorded.dropped && (last || recorded.dropped === 0)
      if (waiting.length === 0 && !cut) return null
      const text = waiting.toString('utf8')
      return { text, offset: end - waiting.length, end, dropped: cut ? dropped : recorded.dropped }
    },
    stored(part) {
      waiting = waiting.subarray(Math.max(0, waiting.length - (end - part.end)))
      recorded = { bytes: Math.max(part.end, recorded.bytes), dropped: part.dropped }
    },
    continueAfter(actual) {
      recorded = actual
      const start = end - waiting.length
      waiting = waiting.subarray(Math.min(waiting.length, Math.max(0, actual.bytes - start)))
      end = Math.max(end, actual.bytes)
    },
    countOnly() {
      full = true
      count()
    }
  }
}
