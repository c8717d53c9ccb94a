// The results that a seal would fix.
import { queryOptions } from '@tanstack/react-query'
import { api, bodyOf } from '../../api/client.js'
import type { ReadCapsule } from '../record/capsule-record.js'

export interface ResultToSeal {
  task: string
  url: string
  /** Slug of the backend that it ran on. */
  backend: string
}

/** A capsule of a job has its result; a draft takes those of its newest completed run of the present definition. */
export const resultsToSealQuery = ({ record, tasks }: ReadCapsule) =>
  queryOptions({
    queryKey: ['capsule', record.id, 'to seal', record.definition_sha256],
    queryFn: async ({ signal }): Promise<ResultToSeal[]> => {
      const kept = record.evidence.artifacts.filter(({ name }) => /^tasks\/[^/]+\/result\.json$/.test(name))
      if (kept.length > 0)
        return kept.map(({ name }) => ({
          task: tasks[0]?.name ?? 'main',
          url: `/api/capsules/${record.id}/files/${encodeURIComponent(name)}`,
          backend: tasks[0]?.backend ?? ''
        }))
      const query = { status: 'completed' as const, limit: 100 }
      const { runs } = await bodyOf(
        api.GET('/api/capsules/{id}/runs', { params: { path: { id: record.id }, query }, signal })
      )
      const newest = runs.find((run) => run.mode === 'template' && run.definition_sha256 === record.definition_sha256)
      return (newest?.tasks ?? []).map(({ name, job_id, backend }) => ({
        task: name,
        url: `/api/jobs/${job_id}/result`,
        backend
      }))
    }
  })
