// Formats capsules and their runs for people.

import { listing, table } from '../terminal/layout.js'
import { money, pageFooter } from '../terminal/output.js'
import { ago, clockTime, lasted } from '../terminal/readable-time.js'
import { plain } from '../terminal/untrusted-text.js'
import type { CapsulePage, CapsuleRecord, CapsuleRun, PublicCapsule, PublicPage, RunPage } from './capsule-record.js'

export function capsulePageText(page: CapsulePage, offset: number): string {
  const { capsules } = page
  if (capsules.length === 0) return 'No capsules.'
  const list = table(
    [
      { heading: 'ID', id: true },
      { heading: 'STATE', status: true },
      { heading: 'CREATED', yields: 2 },
      { heading: 'TAGS', least: 8, yields: 3 },
      { heading: 'NAME', least: 12 }
    ],
    capsules.map(({ id, state, created_at, tags, name }) => [id, state, ago(created_at), tags.join(', '), name])
  )
  return list + pageFooter(offset + capsules.length, page)
}

export function publicPageText(page: PublicPage, offset: number): string {
  const { capsules } = page
  if (capsules.length === 0) return 'No published capsules.'
  const list = table(
    [
      { heading: 'ID', yields: 1 },
      { heading: 'PUBLISHED', yields: 3 },
      { heading: 'LICENSE', least: 8, yields: 4 },
      { heading: 'SLUG', least: 12 },
      { heading: 'TITLE', least: 12, yields: 2 }
    ],
    capsules.map(({ id, published_at, license, slug, title }) => [id, ago(published_at), license ?? '', slug, title])
  )
  return list + pageFooter(offset + capsules.length, page)
}

export function capsuleText(capsule: CapsuleRecord): string {
  const { seal, publication, schedule, imported, workflow, evidence } = capsule
  return listing([
    ['capsule', capsule.id],
    ['name', capsule.name],
    ['description', capsule.description],
    ['state', capsule.state, 'status'],
    ['tags', capsule.tags.join(', ')],
    ['from job', capsule.source_job_id],
    ['cloned from', capsule.cloned_from],
    ['derived from', capsule.derived_from],
    ['imported', imported && `${imported.name}, ${imported.capsule_digest ?? 'not sealed'}`],
    ...taskLines(workflow),
    ['budget', capsule.max_budget_usd === null ? null : money(capsule.max_budget_usd)],
    ['kept', capsule.retention_years === null ? null : `${capsule.retention_years} years`],
    ['regulation', capsule.regulatory_framework],
    ['evidence', evidenceText(evidence)],
    ['sealed', seal && `${clockTime(seal.sealed_at)}, exit code ${seal.exit_code}`],
    ['exit message', seal?.exit_message],
    ['margin', seal?.margin === undefined ? null : String(seal.margin)],
    ...(seal?.warnings ?? []).map((warning): [string, string] => ['warning', warning]),
    ['identity', seal?.capsule_digest],
    ['signed by', seal && `${seal.signature.key_id} (${seal.signature.algorithm})`],
    ['published', publication && `${clockTime(publication.published_at)} as ${publication.slug}`],
    ['schedule', schedule && `${schedule.cron} ${schedule.timezone}${schedule.paused ? ', paused' : ''}`],
    ['created', `${clockTime(capsule.created_at)} (${ago(capsule.created_at)})`]
  ])
}

/** The public fields of a published capsule. */
export const publicCapsuleText = ({ seal, workflow, evidence, ...capsule }: PublicCapsule): string =>
  listing([
    ['capsule', capsule.id],
    ['title', capsule.title],
    ['slug', capsule.slug],
    ['description', capsule.description],
    ['license', capsule.license],
    ['tags', capsule.tags.join(', ')],
    ...taskLines(workflow),
    ['regulation', capsule.regulatory_framework],
    ['evidence', evidenceText(evidence)],
    ['sealed', `${clockTime(seal.sealed_at)}, exit code ${seal.exit_code}`],
    ['margin', seal.margin === undefined ? null : String(seal.margin)],
    ['identity', capsule.capsule_digest],
    ['signed by', `${seal.signature.key_id} (${seal.signature.algorithm})`],
    ['published', clockTime(capsule.published_at)]
  ])

const taskLines = (workflow: CapsuleRecord['workflow']): [string, string][] =>
  (workflow?.tasks ?? []).map(({ name, backend, script_id, framework }) => [
    'task',
    `${name} on ${backend}, ${script_id ? `script ${script_id}` : 'its own program'}${framework ? `, ${framework}` : ''}`
  ])

function evidenceText({ task_executions, artifacts }: CapsuleRecord['evidence']): string | null {
  if (artifacts.length === 0) return null
  const bytes = artifacts.reduce((sum, { size_bytes }) => sum + size_bytes, 0)
  return `${artifacts.length} files, ${bytes} bytes, of ${task_executions} task execution${task_executions === 1 ? '' : 's'}`
}

export function runPageText(page: RunPage, offset: number): string {
  const { runs } = page
  if (runs.length === 0) return 'No runs.'
  const list = table(
    [
      { heading: 'ID', id: true },
      { heading: 'MODE', yields: 3 },
      { heading: 'TRIGGER', yields: 4 },
      { heading: 'STATUS', status: true },
      { heading: 'VERDICT', status: true },
      { heading: 'STARTED', yields: 1 },
      { heading: 'TOOK', right: true, yields: 2 }
    ],
    runs.map((run) => [
      run.id,
      run.mode,
      run.trigger,
      run.status,
      run.verdict ?? '',
      ago(run.created_at),
      run.completed_at ? lasted(run.created_at, run.completed_at) : ''
    ])
  )
  return list + pageFooter(offset + runs.length, page)
}

export function runText(run: CapsuleRun): string {
  const { verification } = run
  const figures = listing([
    ['run', run.id],
    ['mode', run.mode],
    ['status', run.status, 'status'],
    ...run.tasks.map(({ name, job_id, status, backend, shots }): [string, string] => [
      'task',
      `${name} on ${backend}, ${shots} shots: ${status}, job ${job_id}`
    ]),
    ['took', run.completed_at && lasted(run.created_at, run.completed_at)],
    ['cost', run.actual_cost_usd === null ? null : money(run.actual_cost_usd)],
    ['verdict', run.verdict, 'status'],
    ['method', verification?.method],
    ['distance', verification && distanceText(verification)],
    ['needed shots', verification?.needed_shots ? String(verification.needed_shots) : null]
  ])
  const reason = verification?.reason ?? run.reason
  return reason ? `${figures}\n\n${plain(reason)}` : figures
}

function distanceText({ tvd, tvd_upper, margin }: NonNullable<CapsuleRun['verification']>): string | null {
  if (tvd === null) return null
  const upper = tvd_upper === null ? '' : `, at most ${tvd_upper.toFixed(4)}`
  return `${tvd.toFixed(4)} total variation${upper}; the margin is ${margin}`
}
