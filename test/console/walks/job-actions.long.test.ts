// Every action on a job, in every status and for every kind of member: what the record allows is pressed, on the rest the page has
// the words with which the service refuses.
import { afterAll, beforeAll, describe, expect } from '@jest/globals'
import { eq } from 'drizzle-orm'
import type { Page } from 'playwright-core'
import { beginJob, requestCancel } from '../../../db/job-steps/job-steps.js'
import { transition } from '../../../db/jobs/job-transition.js'
import { teams } from '../../../db/tables/accounts.js'
import { jobs } from '../../../db/tables/jobs.js'
import { type JobStatus, jobStatuses } from '../../../domain/jobs/job-status.js'
import { browserPath, browserTest } from '../../support/browser/browser-test.js'
import { startVisit, type Visit } from '../../support/browser/visit.js'
import { finishJob } from '../../support/capsules/capsule-rows.js'
import { shows, type Verdict } from '../refusals.js'
import { PASSWORD, sceneOfFile, submitted } from '../scene.js'

type Can = Record<'cancel' | 'rerun' | 'make_capsule' | 'save_script', Verdict>

const scene = sceneOfFile()
const kinds = ['owner', 'admin', 'member', 'owner of a suspended team'] as const
const fence = { generation: 1 }
let owner: Visit
let teamId: string
let names = 0

beforeAll(async () => {
  if (browserPath === null) return
  // Nothing takes the jobs on, so that each stays in the status into which the test brings it.
  await scene.platform.stop('worker')
}, 60_000)
afterAll(() => owner?.close())

/** A job of the owner in this status, brought there as the service does. */
async function jobIn(status: JobStatus): Promise<string> {
  const { db } = scene.platform.connection
  const id = await submitted(owner.page, scene, {
    team_id: teamId,
    name: `a ${status} job`,
    execution_mode: 'temporal'
  })
  if (status === 'running' || status === 'cancelling') await beginJob(db, id, fence)
  if (status === 'cancelling') await requestCancel(db, id)
  if (status === 'completed') await finishJob(db, id)
  if (status === 'failed' || status === 'cancelled' || status === 'dispatch_failed') {
    const set = status === 'failed' ? { errorCode: 'execution_error', errorMessage: 'a test' } : {}
    await db.transaction((tx) => transition(tx, id, status, { set }))
  }
  expect(
    (await scene.platform.connection.db.select({ status: jobs.status }).from(jobs).where(eq(jobs.id, id)))[0]
  ).toEqual({
    status
  })
  return id
}

/** The console has no button for it here. @returns the words of a refusal. */
async function pressed(page: Page, path: string, data: object): Promise<Verdict> {
  const response = await page.request.post(`${scene.platform.url()}${path}`, { data })
  if (response.ok()) return true
  const { error } = (await response.json()) as { error: string | { message: string } }
  return typeof error === 'string' ? error : error.message
}

async function canOf(page: Page, id: string): Promise<Can> {
  const response = await page.request.get(`${scene.platform.url()}/api/jobs/${id}?result=omit`)
  return ((await response.json()) as { can: Can }).can
}

async function pressAll(page: Page, id: string): Promise<void> {
  await page.goto(`${scene.platform.url()}/jobs/${id}`)
  const can = await canOf(page, id)
  await shows(page, 'Cancel', can.cancel)
  await shows(page, 'Run again', can.rerun)
  const script = { job_id: id, name: 'n', description: 'd', slug: `walk-${++names}` }
  expect(await pressed(page, '/api/capsules/from-job', { job_id: id })).toBe(can.make_capsule)
  expect(await pressed(page, '/api/scripts', script)).toBe(can.save_script)
  if (can.rerun === true) {
    await page.getByRole('button', { name: 'Run again', exact: true }).click()
    await page.waitForURL((url) => url.pathname !== `/jobs/${id}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.goto(`${scene.platform.url()}/jobs/${id}`)
  }
  if (can.cancel === true) {
    await page.getByRole('button', { name: 'Cancel', exact: true }).click()
    await page
      .getByText(/^(cancelling|cancelled)$/)
      .first()
      .waitFor()
    await shows(page, 'Cancel', (await canOf(page, id)).cancel)
  }
}

describe.each(kinds)('for the %s', (kind) => {
  browserTest(
    'each action is pressed where the record allows it, and refused in its words elsewhere',
    scene.visit(async (visit) => {
      if (owner === undefined) {
        owner = await startVisit(visit.page.context().browser()!, () => scene.platform.url())
        await scene.signUp(owner)
        const made = await owner.page.request.post(`${scene.platform.url()}/api/teams`, { data: { name: 'Walkers' } })
        teamId = ((await made.json()) as { id: string }).id
      }
      let { page } = owner
      if (kind === 'admin' || kind === 'member') {
        await visit.open(`/invitations/${await scene.invite(teamId, `${kind}@example.org`, kind)}`)
        await visit.page.getByLabel('Password').fill(PASSWORD)
        await visit.page.getByRole('button', { name: 'Create the account and join' }).click()
        await visit.page.getByRole('heading', { level: 1, name: /^Jobs of/ }).waitFor()
        page = visit.page
      }
      const ids: string[] = []
      for (const status of jobStatuses) ids.push(await jobIn(status))
      if (kind === 'owner of a suspended team') {
        const set = { suspendedAt: new Date(), suspendedReason: '<b>unpaid</b>' }
        await scene.platform.connection.db.update(teams).set(set).where(eq(teams.id, teamId))
      }
      for (const id of ids) await pressAll(page, id)
      expect(owner.faults).toEqual([])
    }),
    300_000
  )
})
