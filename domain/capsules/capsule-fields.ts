// The body of `POST /api/capsules/create` and of PATCH (interface specification 2.5).
import { type Static, Type } from 'typebox'
import { validationError } from '../errors.js'
import { frameworkNames } from '../jobs/framework.js'
import { executionModes } from '../jobs/job-status.js'
import { INLINE_CODE_MAX, TIMEOUT_SECONDS_MAX } from '../jobs/submission.js'
import { oneOf } from '../json/one-of.js'
import { type MicroUsd, microFromUsd } from '../money/money.js'
import { CAPSULE_TASKS_MAX, TaskName } from './capsule-definition.js'

const Uuid = Type.String({ format: 'uuid' })
export const Slug = Type.String({ minLength: 1, maxLength: 100 })

export const CapsuleName = Type.String({ minLength: 1, maxLength: 200, pattern: '\\S' })
export const CapsuleDescription = Type.String({ maxLength: 1_000 })
/** The most that all runs of a capsule can cost together, in USD. */
export const CAPSULE_BUDGET_USD_MAX = 500
export const RETENTION_YEARS_MAX = 100

/** The operator's cap on retention. @throws Error naming RETENTION_YEARS_MAX. */
export function readRetentionCap(text: string | undefined): number {
  if (!text) return RETENTION_YEARS_MAX
  const years = Number(text)
  if (!/^\d{1,3}$/.test(text) || years < 1 || years > RETENTION_YEARS_MAX)
    throw new Error(`RETENTION_YEARS_MAX must be a whole number from 1 to ${RETENTION_YEARS_MAX} (got ${text})`)
  return years
}

export const MaxBudgetUsd = Type.Number({ minimum: 0, maximum: CAPSULE_BUDGET_USD_MAX })
export const RetentionYears = Type.Integer({ minimum: 1, maximum: RETENTION_YEARS_MAX })
export const RegulatoryFramework = Type.String({ maxLength: 1_000 })
export const CapsuleTags = Type.Array(Type.String({ minLength: 1, maxLength: 50 }), { maxItems: 10 })

export const WorkflowTask = Type.Object(
  {
    name: TaskName,
    script_id: Type.Optional(Uuid),
    script_slug: Type.Optional(Type.String({ pattern: '^[a-z0-9-]{1,200}$' })),
    inline_code: Type.Optional(Type.String({ minLength: 1, maxLength: INLINE_CODE_MAX })),
    framework: Type.Optional(oneOf(frameworkNames)),
    backend: Slug,
    parameters: Type.Unsafe<Record<string, unknown>>(
      Type.Object(
        {},
        {
          additionalProperties: true,
          description:
            'Like `params` of a submission; `shots` defaults to 1000. `{ "$result": "<task>", "path"?: "/counts" }` ' +
            'is replaced by the result of another task.'
        }
      )
    ),
    execution_mode: Type.Optional(oneOf(executionModes)),
    timeout_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: TIMEOUT_SECONDS_MAX }))
  },
  { additionalProperties: false, description: 'One of script_id, script_slug and inline_code is needed.' }
)
export type WorkflowTask = Static<typeof WorkflowTask>

const Workflow = Type.Object(
  { tasks: Type.Array(WorkflowTask, { maxItems: CAPSULE_TASKS_MAX }) },
  { additionalProperties: false }
)

const optionalFields = {
  description: Type.Optional(CapsuleDescription),
  tags: Type.Optional(CapsuleTags),
  workflow: Type.Optional(Type.Union([Workflow, Type.Null()])),
  backends: Type.Optional(Type.Array(Slug, { maxItems: 50 })),
  max_budget_usd: Type.Optional(Type.Union([MaxBudgetUsd, Type.Null()])),
  retention_years: Type.Optional(Type.Union([RetentionYears, Type.Null()])),
  regulatory_framework: Type.Optional(Type.Union([RegulatoryFramework, Type.Null()]))
}

export const CreateCapsuleBody = Type.Object(
  { name: CapsuleName, ...optionalFields, team_id: Type.Optional(Uuid) },
  { additionalProperties: false }
)
export type CreateCapsuleBody = Static<typeof CreateCapsuleBody>

export const ChangeCapsuleBody = Type.Object(
  { name: Type.Optional(CapsuleName), ...optionalFields },
  { additionalProperties: false, minProperties: 1 }
)
export type ChangeCapsuleBody = Static<typeof ChangeCapsuleBody>

/** @throws ServiceError `validation_error` for more than six decimals. */
export function readMaxBudget(usd: number | null): MicroUsd | null {
  if (usd === null) return null
  const micro = microFromUsd(usd)
  if (micro === null)
    throw validationError(`max_budget_usd: must be a number of USD with at most 6 decimals (got ${usd})`)
  return micro
}
