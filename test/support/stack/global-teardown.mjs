// Ends what global-setup.mjs has started. With TEST_KEEP=1 it stays until Ctrl-C: a failed test keeps its database, and
// this is how to look at it.
import { once } from 'node:events'

export default async function tearDown() {
  if (process.env.TEST_KEEP) {
    process.stderr.write(`The test stack stays until Ctrl-C; Postgres: ${process.env.TEST_PG_URL}\n`)
    // A pending promise alone does not keep a process alive; the stack's children do.
    await once(process, 'SIGINT')
  }
  await globalThis.stopSharedStack?.()
}
