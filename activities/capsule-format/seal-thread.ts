// What runs in a sealing thread (seal-pool.ts). Bundled as a program of its own, since a thread begins at a file.
import { answerInThread } from '../threads/thread-program.js'
import { type SealRequest, sealContent } from './seal-content.js'

answerInThread((request: SealRequest) => sealContent({ ...request, files: request.files.map(withBuffer) }))

/** A Buffer arrives as the plain bytes that it is a view of. */
const withBuffer = <File extends { content: Uint8Array }>(file: File) => ({
  ...file,
  content: Buffer.from(file.content.buffer, file.content.byteOffset, file.content.byteLength)
})
