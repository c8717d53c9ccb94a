// Reports to the Temporal server, while an activity works, that its worker is alive. The response carries a cancellation.
import type { Context } from '@temporalio/activity'

const HEARTBEAT_MS = 1_000

export async function withHeartbeat<T>(activity: Context, work: () => Promise<T>): Promise<T> {
  const beating = setInterval(() => activity.heartbeat(), HEARTBEAT_MS)
  try {
    return await work()
  } finally {
    clearInterval(beating)
  }
}
