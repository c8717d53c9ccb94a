// Jobs with held money or with costs beyond their reservation, created by the product's own steps.

import type { Db } from '../../../db/client.js'
import { beginJob, failJob } from '../../../db/job-steps/job-steps.js'
import { markAccepted, markSending, takeForSubmit } from '../../../db/provider-jobs/provider-jobs.js'
import { plainRef } from '../../../db/provider-jobs/provider-refs.js'
import { createApiKey } from '../../../db/teams/api-keys.js'
import type { MicroUsd } from '../../../domain/money/money.js'
import { addJob, type JobChoices, type Person } from './rows.js'

export const usd = (dollars: number): MicroUsd => BigInt(Math.round(dollars * 1e6))

const fence = { generation: 1 }

/** A running job whose provider job was accepted. */
export async function addAcceptedJob(db: Db, person: Person, choices: JobChoices): Promise<string> {
  const jobId = await addJob(db, person, choices)
  await beginJob(db, jobId, fence)
  const task = await takeForSubmit(db, plainRef(jobId), fence, { provider: 'ionq', token: jobId.replaceAll('-', '') })
  await markSending(db, plainRef(jobId), fence, task!.number, 'v1')
  await markAccepted(db, plainRef(jobId), fence, `at-provider-${jobId}`)
  return jobId
}

/** A job that failed with an unknown outcome at its provider. */
export async function addHeldJob(db: Db, person: Person, choices: JobChoices): Promise<string> {
  const jobId = await addAcceptedJob(db, person, choices)
  await failJob(db, jobId, fence, { code: 'provider_outcome_unknown', message: 'the provider has not answered' })
  return jobId
}

export async function addKey(db: Db, person: Person, teamId: string, dailyLimit: MicroUsd | null) {
  const { row } = await createApiKey(db, {
    teamId,
    createdBy: person.userId,
    name: 'a program',
    tier: 'qpu',
    kind: 'live',
    dailyLimit,
    expiresAt: null
  })
  return { id: row.id, teamId, dailyLimit }
}
