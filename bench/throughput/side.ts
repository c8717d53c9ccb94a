// One side of the comparison, and how its rate is taken.

export interface ThroughputSide {
  /** Records a backlog, which is not measured. The returned function runs it and resolves when every job is completed. */
  prepare(count: number): Promise<() => Promise<void>>
  close(): Promise<void>
}

export async function jobsPerSecond(side: ThroughputSide, count: number): Promise<number> {
  const runBacklog = await side.prepare(count)
  const startedAt = performance.now()
  await runBacklog()
  return (count * 1000) / (performance.now() - startedAt)
}
