// What a sealing thread runs (seal-pool.ts). Bundled as a program of its own, since a thread starts from a file.

import { type SealRequest, sealContent } from '../../capsule-format/seal-content.js'
import { threadProgram } from './thread-program.js'

export default threadProgram((request: SealRequest) =>
  sealContent({ ...request, files: request.files.map(withBuffer) })
)

/** A Buffer arrives as the plain bytes that it is a view of. */
const withBuffer = <File extends { content: Uint8Array }>(file: File) => ({
  ...file,
  content: Buffer.from(file.content.buffer, file.content.byteOffset, file.content.byteLength)
})
