// What runs in a sealing thread (seal-pool.ts). Bundled as a program of its own, since a thread begins at a file.

import { type SealRequest, sealContent } from '../../capsule-format/seal-content.js'
import { answerInThread } from './thread-program.js'

answerInThread((request: SealRequest) => sealContent({ ...request, files: request.files.map(withBuffer) }))

/** A Buffer arrives as the plain bytes that it is a view of. */
const withBuffer = <File extends { content: Uint8Array }>(file: File) => ({
  ...file,
  content: Buffer.from(file.content.buffer, file.content.byteOffset, file.content.byteLength)
})
