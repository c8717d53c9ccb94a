// Long work on bytes, cut into pieces of one size: what a compressor makes of them depends on nothing else, and other work
// of the process goes on between two of them.
import { setImmediate as turn } from 'node:timers/promises'

const PIECE_BYTES = 64 * 1024

/**
 * Of the compressors. The levels above it take four times as long over the digits of counts, for a tenth less.
 * Another level, or another version of the compressor, changes the bytes of every archive (not what they hold).
 */
export const COMPRESSION_LEVEL = 2

/** Pieces of 64 KiB, the last of what is left, however the source is cut. */
export async function* inPieces(source: AsyncIterable<Buffer> | Iterable<Buffer>): AsyncGenerator<Buffer> {
  const piece = Buffer.allocUnsafe(PIECE_BYTES)
  let filled = 0
  for await (const chunk of source)
    for (let at = 0; at < chunk.length; ) {
      const taken = chunk.copy(piece, filled, at, at + PIECE_BYTES - filled)
      at += taken
      filled += taken
      if (filled < PIECE_BYTES) continue
      yield piece
      filled = 0
      await turn()
    }
  if (filled > 0) yield piece.subarray(0, filled)
}
