import { expect } from '@jest/globals'
import { browserTest } from '../support/browser/browser-test.js'
import { PASSWORD, type Scene } from './scene.js'

export function accountTests(scene: Scene): void {
  browserTest(
    'a newcomer signs up with a code, signs out, and signs in again at the page that they asked for',
    scene.visit(async (visit) => {
      const { page, open, examine } = visit
      await open('/backends')
      await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
      await examine()
      await page.getByRole('link', { name: 'Create an account' }).click()
      await page.getByLabel('Password').waitFor()
      await examine()
      const { email } = await scene.signUp(visit)
      await page.getByRole('heading', { name: 'There is no job yet' }).waitFor()
      await examine()
      await page.getByRole('button', { name: 'Account' }).click()
      await page.getByText(email).waitFor()
      await examine()
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
      await open('/backends')
      await page.getByLabel('Email').fill(email)
      await page.getByLabel('Password').fill('not the password')
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('alert').filter({ hasText: 'E-mail address or password is wrong' }).waitFor()
      await page.getByLabel('Password').fill(PASSWORD)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('heading', { level: 1, name: 'Backends' }).waitFor()
      await examine()
    })
  )

  browserTest(
    'a sign-up without a valid code shows the refusal in the words of the service',
    scene.visit(async ({ page, open }) => {
      await open('/sign-up?code=no-such-code')
      await page.getByLabel('Email').fill('refused@example.org')
      await page.getByLabel('Password').fill(PASSWORD)
      await page.getByRole('button', { name: 'Create the account' }).click()
      await page.locator('[slot=errorMessage]').filter({ hasText: 'is not valid, has expired or is used up' }).waitFor()
    })
  )

  browserTest(
    'the link of an invitation leads to an account in the team',
    scene.visit(async ({ page, open, examine }) => {
      const { platform } = scene
      const team = (await (await platform.call('POST', '/api/teams', { name: 'Lab <b>seven</b>' })).json()) as {
        id: string
      }
      const token = await scene.invite(team.id, 'invited@example.org')
      await open(`/invitations/${token}`)
      await page.getByRole('heading', { name: 'Join the team Lab <b>seven</b>' }).waitFor()
      await examine()
      await page.getByLabel('Password').fill(PASSWORD)
      await page.getByRole('button', { name: 'Create the account and join' }).click()
      await page.getByRole('heading', { level: 1, name: 'Jobs of Lab <b>seven</b>' }).waitFor()
      expect(new URL(page.url()).searchParams.get('team')).toBe(team.id)
    })
  )

  browserTest(
    'a forgotten password is set anew by the link of the mail, whose token leaks into no other address',
    scene.visit(async (visit) => {
      const { page, open, examine } = visit
      const { email } = await scene.signUp(visit)
      await open('/forgot-password')
      await page.getByLabel('Email').fill(email)
      await examine()
      await page.getByRole('button', { name: 'Send the mail' }).click()
      await page.getByText(`If ${email} has an account`).waitFor()
      await open(`/reset-password/${await scene.resetToken(email)}`)
      await page.getByLabel('New password').fill('another long password')
      await examine()
      await page.getByRole('button', { name: 'Set the password' }).click()
      await page.getByText('Your password is set').waitFor()
      await open('/jobs')
      await page.getByLabel('Email').fill(email)
      await page.getByLabel('Password').fill('another long password')
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor()
    })
  )

  browserTest(
    'the team of the address is the team of the page, and a team of others is not shown',
    scene.visit(async (visit) => {
      const { page, open } = visit
      await scene.signUp(visit)
      // The page after the sign-up, which has no team yet, reads its list again when its stream begins.
      await page.goto('about:blank')
      const asked: string[] = []
      page.on('request', (request) => {
        const url = new URL(request.url())
        if (url.pathname === '/api/jobs') asked.push(url.searchParams.get('team_id') ?? 'none')
      })
      const made = await page.request.post(`${scene.platform.url()}/api/teams`, { data: { name: 'Second' } })
      const { id } = (await made.json()) as { id: string }
      await open(`/jobs?team=${id}`)
      await page.getByRole('heading', { name: 'Jobs of Second' }).waitFor()
      expect(new Set(asked)).toEqual(new Set([id]))
      await open('/jobs?team=00000000-0000-4000-8000-000000000000')
      await page.getByRole('heading', { name: 'You do not belong to the team of this address' }).waitFor()
    })
  )
}
