// The life of a capsule by mouse: from a job to the page that everyone can check.
import { expect } from '@jest/globals'
import type { Page } from 'playwright-core'
import { browserTest } from '../../support/browser/browser-test.js'
import { startVisit } from '../../support/browser/visit.js'
import { eventually } from '../../support/eventually.js'
import { type Scene, submitted } from '../scene.js'

/** @returns the id of a job of the visitor. */
export async function completedJob(page: Page, scene: Scene, changes: Record<string, unknown>): Promise<string> {
  const job = await submitted(page, scene, changes)
  await untilCompleted(page, scene, job)
  return job
}

export const untilCompleted = (page: Page, scene: Scene, job: string): Promise<true> =>
  eventually(
    async () => {
      const response = await page.request.get(`${scene.platform.url()}/api/jobs/${job}/status`)
      expect(await response.json()).toMatchObject({ status: 'completed' })
      return true
    },
    { timeoutMs: 90_000, everyMs: 200 }
  )

/** @returns the id of a capsule of a completed job that gives the same counts again. */
export async function capsuleOfJob(page: Page, scene: Scene, name: string): Promise<string> {
  const job = await completedJob(page, scene, { name, params: { shots: 2_000, seed: 7 } })
  const response = await page.request.post(`${scene.platform.url()}/api/capsules/from-job`, { data: { job_id: job } })
  if (response.status() !== 201) throw new Error(`from-job answered ${response.status()}: ${await response.text()}`)
  return ((await response.json()) as { capsule_id: string }).capsule_id
}

export function capsuleTests(scene: Scene): void {
  browserTest(
    'a job becomes a capsule that is sealed, verified and published, and everyone can check its signature',
    scene.visit(async (visit) => {
      const { page, open, examine } = visit
      await scene.signUp(visit)
      const job = await completedJob(page, scene, { name: 'A Bell pair', params: { shots: 2_000, seed: 7 } })
      await open(`/jobs/${job}`)
      await page.getByRole('button', { name: 'Make a capsule' }).click()
      await page.getByRole('button', { name: 'Make the capsule' }).click()
      await page.getByRole('heading', { level: 1, name: 'A Bell pair' }).waitFor()
      await examine()

      await page.getByRole('button', { name: 'Seal', exact: true }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByText(/A verification will tolerate a distance of 0\.0\d+, the default/).waitFor()
      await examine()
      await dialog.getByRole('button', { name: 'Seal', exact: true }).click()
      await page.getByText(/^mqc:1:[0-9a-f]{64}$/).waitFor()

      await page.getByRole('button', { name: 'Verify', exact: true }).click()
      await page.getByText('exact', { exact: true }).first().waitFor()
      await page.getByRole('figure').filter({ hasText: 'sealed' }).first().waitFor()
      await examine()
      await page.getByRole('tab', { name: 'Verifications' }).click()
      await page
        .locator('figcaption')
        .filter({ hasText: /^1 verification from .*: 1 exact\./ })
        .waitFor()
      await examine()

      await page.getByRole('button', { name: 'Publish', exact: true }).click()
      await dialog.getByLabel('Title').fill('Bell <b>pair</b> for all')
      await dialog.getByLabel('Description').fill('Two qubits')
      await dialog.getByLabel('Readme in Markdown (optional)').fill('# What it is\n\nA **pair**.')
      await dialog.getByRole('button', { name: 'Publish', exact: true }).click()
      const link = page.getByRole('link', { name: 'Bell <b>pair</b> for all' })
      await link.waitFor()
      await readsAsAStranger(page, scene, (await link.getAttribute('href'))!)
    })
  )
}

async function readsAsAStranger(page: Page, scene: Scene, path: string): Promise<void> {
  const stranger = await startVisit(page.context().browser()!, () => scene.platform.url())
  try {
    await stranger.open(new URL(path, scene.platform.url()).pathname)
    await stranger.page.getByRole('heading', { level: 1, name: 'Bell <b>pair</b> for all' }).waitFor()
    await stranger.page.getByRole('heading', { name: 'What it is' }).waitFor()
    await stranger.page
      .locator('figcaption')
      .filter({ hasText: /^1 verification from/ })
      .waitFor()
    await stranger.page.getByRole('button', { name: 'Check it in this browser' }).click()
    await stranger.page.getByText('The signature holds.').waitFor()
    await stranger.examine()
    expect(stranger.faults).toEqual([])
  } finally {
    await stranger.close()
  }
}
