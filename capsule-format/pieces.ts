// Cuts long work on bytes into pieces of one size. A compressor's output then depends only on the bytes, and other work of
// the process continues between two pieces.
import { setImmediate as turn } from 'node:timers/promises'

const PIECE_BYTES = 64 * 1024

/**
 * The compression level. Higher levels take four times as long on the digits of counts and save a tenth.
 * Another level, or another version of the compressor, changes the bytes of every archive (not the files in it).
 */
export const COMPRESSION_LEVEL = 2

/** Pieces of 64 KiB, the last with the rest, independent of how the source is cut. */
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
