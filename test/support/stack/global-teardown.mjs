// Stops what global-setup.mjs has started. With TEST_KEEP=1 the stack runs until Ctrl-C, so that the database of a failed
// test can be inspected.
import { once } from 'node:events'

export default async function tearDown() {
  if (process.env.TEST_KEEP) {
    process.stderr.write(`The test stack stays until Ctrl-C; Postgres: ${process.env.TEST_PG_URL}\n`)
    // A pending promise alone does not keep a process alive; the stack's children do.
    await once(process, 'SIGINT')
  }
  await globalThis.stopSharedStack?.()
}
