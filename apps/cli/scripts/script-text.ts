// Formats saved scripts for people.
import { listing, table } from '../terminal/layout.js'
import { money, pageFooter } from '../terminal/output.js'
import { ago, clockTime } from '../terminal/readable-time.js'
import { plain, plainLine } from '../terminal/untrusted-text.js'
import type { ScriptItem, ScriptPage, ScriptRecord } from './script-record.js'

export interface Uploaded {
  script_id: string
  name: string
  slug: string
  script_type: string
  validation_warnings: string[]
}

export interface ExecutionOptions {
  destinations: {
    backend: string
    name: string
    available: boolean
    reason: string | null
    estimated_cost_usd: number | null
    requires_analysis: boolean
  }[]
}

export interface Analysis {
  analysis_id: string
  can_run: boolean
  checks: { id: string; level: string; message: string; line?: number }[]
  cost: { total_usd: number }
}

export function scriptsText(scripts: ScriptItem[]): string {
  if (scripts.length === 0) return 'No scripts.'
  return table(
    [
      { heading: 'ID', id: true, yields: 5 },
      { heading: 'SLUG', least: 12 },
      { heading: 'TYPE', yields: 4 },
      { heading: 'KIND', yields: 2 },
      { heading: 'RUNS', right: true, yields: 3 },
      { heading: 'CREATED', yields: 6 },
      { heading: 'NAME', least: 12, yields: 1 }
    ],
    scripts.map((script) => [
      script.id,
      script.slug,
      script.script_type,
      script.is_hardcoded ? 'template' : script.is_public ? 'published' : 'private',
      String(script.executions_count),
      ago(script.created_at),
      script.name
    ])
  )
}

export function scriptPageText(page: ScriptPage, offset: number): string {
  const { scripts } = page
  return scriptsText(scripts) + (scripts.length > 0 ? pageFooter(offset + scripts.length, page) : '')
}

export const templatesText = (scripts: ScriptItem[]): string =>
  scripts.length === 0
    ? 'No templates.'
    : table(
        [
          { heading: 'SLUG', least: 12 },
          { heading: 'TYPE', yields: 1 },
          { heading: 'DESCRIPTION', least: 20 }
        ],
        scripts.map((script) => [script.slug, script.script_type, script.description])
      )

export function scriptText(script: ScriptRecord): string {
  const kind = script.is_hardcoded ? ', template' : script.is_public ? ', published' : ''
  const facts = listing([
    ['script', script.id],
    ['slug', script.slug],
    ['name', script.name],
    ['type', `${script.script_type}, ${script.framework}${kind}`],
    ['version', `${script.version}, sha256 ${script.source_sha256.slice(0, 12)}`],
    ['runs', script.metadata.entry_point],
    ['functions', script.metadata.functions.map(functionText).join(', ')],
    [
      'requirements',
      script.requirements
        ?.trim()
        .split(/\s*\n\s*/)
        .join(', ')
    ],
    ['created', `${clockTime(script.created_at)} (${ago(script.created_at)})`],
    ['changed', script.version > 1 ? `${clockTime(script.updated_at)} (${ago(script.updated_at)})` : null],
    ['executions', String(script.executions_count)]
  ])
  const jobs = table(
    [
      { heading: 'JOB', id: true },
      { heading: 'STATUS', status: true },
      { heading: 'BACKEND', least: 10, yields: 1 },
      { heading: 'SUBMITTED', yields: 2 }
    ],
    script.executions.map((job) => [job.id, job.status, job.backend, ago(job.created_at)])
  )
  return [facts, plain(script.description), ...(script.executions.length > 0 ? [jobs] : [])]
    .filter(Boolean)
    .join('\n\n')
}

function functionText({
  name,
  parameters,
  is_task,
  is_workflow
}: ScriptRecord['metadata']['functions'][number]): string {
  return `${is_workflow ? '@workflow ' : is_task ? '@task ' : ''}${name}(${parameters.join(', ')})`
}

export type Updated = ScriptRecord & { validation_warnings: string[] }

export const uploadedText = ({ script_id, name, slug, script_type, validation_warnings }: Uploaded): string =>
  [
    `script ${script_id}: ${plainLine(name)}, a ${script_type}`,
    ...warningLines(validation_warnings),
    `Run it with: qjob scripts run ${plainLine(slug)}`
  ].join('\n')

export const updatedText = ({ id, version, validation_warnings }: Updated): string =>
  [`script ${id} is at version ${version}`, ...warningLines(validation_warnings)].join('\n')

const warningLines = (warnings: string[]): string[] => warnings.map((warning) => `warning: ${plainLine(warning)}`)

export const optionsText = ({ destinations }: ExecutionOptions): string =>
  table(
    [
      { heading: 'BACKEND', least: 12 },
      { heading: 'NAME', least: 12, yields: 1 },
      { heading: 'COST', right: true },
      { heading: 'STATE', least: 12 }
    ],
    destinations.map((destination) => [
      destination.backend,
      destination.name,
      destination.estimated_cost_usd === null ? '' : money(destination.estimated_cost_usd),
      (destination.available ? 'available' : (destination.reason ?? 'not available')) +
        (destination.requires_analysis ? ', after an analysis' : '')
    ])
  )

export function analysisText({ analysis_id, can_run, checks, cost }: Analysis): string {
  const facts = listing([
    ['analysis', analysis_id],
    ['can run', can_run ? 'yes' : 'no'],
    ['cost', `${money(cost.total_usd)} estimated`]
  ])
  const rows = checks.map(({ id, level, message, line }) => [
    level,
    id,
    line === undefined ? '' : String(line),
    message
  ])
  const columns = [
    'LEVEL',
    { heading: 'CHECK', least: 12 },
    { heading: 'LINE', right: true },
    { heading: 'MESSAGE', least: 20 }
  ]
  return checks.length === 0 ? facts : `${facts}\n\n${table(columns, rows)}`
}
