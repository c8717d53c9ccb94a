/** Balancers and supervisors ask these each second, from each machine: a trace or a log line of each would bury the others. */
export const probeRoutes: ReadonlySet<string | undefined> = new Set(['/healthz', '/readyz'])
