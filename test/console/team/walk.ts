// The pages of a team and of an account, once through. The long lane has the rest (team.long.test.ts).
import { browserTest } from '../../support/browser/browser-test.js'
import type { Scene } from '../scene.js'

export function teamWalk(scene: Scene): void {
  browserTest(
    'an owner makes a team, invites, makes a key that is shown once, and finds budget, usage and sessions',
    scene.visit(async (visit) => {
      const { page, open, examine } = visit
      await scene.signUp(visit)
      await page.getByRole('link', { name: 'Team', exact: true }).click()
      await page.getByRole('heading', { name: 'You have no team yet' }).waitFor()
      await page.getByLabel('Name of the team').fill('Ion <b>traps</b>')
      await page.getByRole('button', { name: 'Create the team' }).click()
      await page.getByRole('heading', { level: 1, name: 'Team Ion <b>traps</b>' }).waitFor()
      await page.getByRole('region', { name: 'Members' }).getByText('(you)').waitFor()
      await examine()
      const parts = page.getByRole('navigation', { name: 'Parts of the team' })
      await parts.getByRole('link', { name: 'Invitations' }).click()
      await page.getByText('This service sends no mail').waitFor()
      await page.getByLabel('Email').fill('guest@example.org')
      await page.getByRole('button', { name: 'Send the invitation' }).click()
      await page
        .getByRole('region', { name: 'Pending invitations' })
        .getByRole('cell', { name: 'guest@example.org', exact: true })
        .waitFor()
      await parts.getByRole('link', { name: 'API keys' }).click()
      await page.getByLabel('Name of the key').fill('nightly')
      await page.getByRole('button', { name: 'Make the key' }).click()
      const dialog = page.getByRole('dialog', { name: 'The new API key' })
      await dialog.getByText(/^marqey_live_/).waitFor()
      await examine()
      await dialog.getByRole('button', { name: 'Close' }).click()
      await page
        .getByRole('region', { name: 'API keys' })
        .getByRole('row', { name: /nightly/ })
        .waitFor()
      await parts.getByRole('link', { name: 'Budget' }).click()
      await page
        .getByRole('region', { name: 'Spent and reserved' })
        .getByText(/^Today/)
        .waitFor()
      await parts.getByRole('link', { name: 'Usage' }).click()
      await page.getByRole('link', { name: 'Download as CSV' }).waitFor()
      await open('/profile')
      await page.getByText('this one: sign out under Account').waitFor()
      await page.getByText('the team Ion <b>traps</b>, with its keys').waitFor()
      await examine()
    })
  )
}
