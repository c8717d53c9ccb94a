/** The path of a job's files, below the address of the service; `name` is one of them. */
export const artifactsPath = (jobId: string, name?: string): string =>
  `/api/jobs/${jobId}/artifacts${name === undefined ? '' : `/${encodeURIComponent(name)}`}`
