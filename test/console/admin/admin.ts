// Administration, in short: what the long lane does with every page (admin.long.test.ts).
import { expect } from '@jest/globals'
import { grantPlatformAdmin } from '../../../db/accounts/accounts.js'
import { browserTest } from '../../support/browser/browser-test.js'
import type { Scene } from '../scene.js'

export function adminTests(scene: Scene): void {
  browserTest(
    'an administrator suspends a team with a reason, which its page then shows; to others the page is an unknown address',
    scene.visit(async (visit) => {
      const { page, open, examine } = visit
      const { email } = await scene.signUp(visit)
      const made = await page.request.post(`${scene.platform.url()}/api/teams`, { data: { name: 'Lab <i>nine</i>' } })
      const { id } = (await made.json()) as { id: string }
      await open('/no-such-page')
      await page.getByRole('heading', { name: 'There is no page at this address' }).waitFor()
      const unknown = await page.locator('#root, body').first().textContent()
      await open(`/admin/teams/${id}`)
      await page.getByRole('heading', { name: 'There is no page at this address' }).waitFor()
      expect(await page.locator('#root, body').first().textContent()).toBe(unknown)

      await grantPlatformAdmin(scene.platform.connection.db, email)
      await open('/jobs')
      await page.getByRole('link', { name: 'Administration' }).click()
      await page.getByRole('heading', { level: 1, name: 'System' }).waitFor()
      await page.getByRole('region', { name: 'Parts' }).first().getByText('database').waitFor()
      await page.getByRole('link', { name: 'Teams' }).click()
      await page.getByLabel(/^Id of the team/).fill('lab <i>')
      await page.keyboard.press('Enter')
      await page.getByRole('link', { name: 'Lab <i>nine</i>' }).click()
      await page.getByRole('button', { name: 'Suspend' }).click()
      const dialog = page.getByRole('dialog', { name: 'Suspend the team' })
      await dialog.getByLabel('Reason, which the team reads').fill('bills')
      await dialog.getByRole('button', { name: 'Suspend' }).click()
      await page.getByText(/^suspended since .*: bills$/).waitFor()
      await examine()
      await page.getByRole('link', { name: 'Actions' }).click()
      await page
        .getByRole('row', { name: /suspended a team/ })
        .getByText('reason: bills')
        .waitFor()
      await open('/audit')
      await page.getByRole('button', { name: 'Prove it' }).click()
      await page.getByText('The trail holds: 0 entries.').waitFor()
      await examine()
    })
  )
}
