// The log of Temporal's own runtime, which all test files of a jest worker share.
import { DefaultLogger, Runtime } from '@temporalio/worker'

/** Logs errors alone. The first file that runs in a process decides. */
export function quietTemporal(): void {
  try {
    Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [] })
  } catch (error) {
    if ((error as Error).name !== 'IllegalStateError') throw error
  }
}
