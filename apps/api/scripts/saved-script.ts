// The source of a job that is submitted by a saved script.
import type { DbOrTx } from '../../../db/client.js'
import { loadAnalysis } from '../../../db/scripts/script-analyses.js'
import { loadScript, loadScriptBySlug, type ScriptRow } from '../../../db/scripts/scripts.js'
import type { Caller } from '../../../db/teams/memberships.js'
import { ServiceError, validationError } from '../../../domain/errors.js'
import type { Framework } from '../../../domain/jobs/framework.js'
import { shotsOfRuns } from '../../../domain/jobs/params/params.js'
import type { JobSource, SavedScript, Submission } from '../../../domain/jobs/submission.js'
import { estimateRuns, type Pricing } from '../../../domain/money/cost.js'
import { assertAnalysed } from '../../../domain/scripts/script-analysis.js'

/** The fields of a submission that an analysis covers, in addition to its script. */
type Submitted = Pick<Submission, 'backend' | 'params' | 'circuitCount'> & { teamId: string; pricing: Pricing }

/**
 * The present version of the script that a submission names: by its id any that the caller sees, by its slug one of the
 * acting team, else a template. `qubits` is its width, if the source determines it.
 * @throws ServiceError `not_found`, `validation_error`, `analysis_mismatch`.
 */
export async function sourceOfScript(
  tx: DbOrTx,
  caller: Caller,
  { by, framework, analysis }: SavedScript,
  submitted: Submitted
): Promise<{ source: Extract<JobSource, { kind: 'script' }>; qubits: number | null }> {
  const row = await loadNamed(tx, caller, by, submitted.teamId)
  if (framework !== null && framework !== row.framework)
    throw validationError(
      `framework: the script is ${row.framework} (got ${JSON.stringify(framework)}); leave the field out`
    )
  const shots = shotsOfRuns(submitted.params.value)
  if (analysis)
    assertAnalysed(
      uuid.test(analysis.id) ? await loadAnalysis(tx, analysis.id) : null,
      {
        scriptId: row.id,
        teamId: submitted.teamId,
        sourceSha256: row.sourceSha256,
        backend: submitted.backend,
        shots: Math.max(...shots),
        circuitCount: shots.length * submitted.circuitCount,
        cost: estimateRuns(submitted.pricing, shots, submitted.circuitCount)
      },
      analysis.consents
    )
  const source = {
    kind: 'script',
    framework: row.framework as Framework,
    text: row.content,
    scriptId: row.id,
    version: row.version
  } as const
  return { source, qubits: row.metadata?.qubits ?? null }
}

/** The width of the script that a submission names, if its source determines it. @throws ServiceError `not_found`. */
export const widthOfScript = async (
  tx: DbOrTx,
  caller: Caller,
  { by }: SavedScript,
  teamId: string
): Promise<number | null> => (await loadNamed(tx, caller, by, teamId)).metadata?.qubits ?? null

async function loadNamed(tx: DbOrTx, caller: Caller, by: SavedScript['by'], teamId: string): Promise<ScriptRow> {
  const row = 'id' in by ? await loadScript(tx, caller, by.id) : await loadScriptBySlug(tx, teamId, by.slug)
  if (row) return row
  throw new ServiceError(
    'not_found',
    'id' in by
      ? 'script_id: no such script'
      : `script_slug: neither the team nor the platform has a script ${JSON.stringify(by.slug)}; published scripts of others go by script_id`
  )
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
