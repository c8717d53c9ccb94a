// The results that a seal would fix, and the margin and the warnings that the service would give: the rules are those of the
// service (domain/verification), run here before anything is final.
import { queryOptions } from '@tanstack/react-query'
import { readRun } from '../../../../domain/verification/run-counts.js'
import { type SealOutlook, sealOutlook } from '../../../../domain/verification/untestable.js'
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

/** @param results with the JSON text of each. @returns `null` where they cannot be read. */
export function plannedSeal(
  results: readonly { task: string; text: string; hardware: boolean; local: boolean }[],
  declared: number | null
): SealOutlook | null {
  try {
    return sealOutlook(
      results.map(({ task, text, ...facts }) => ({ task, run: readRun(text, { ...facts, completedAt: null }) })),
      declared
    )
  } catch {
    return null
  }
}
