import { expect } from '@jest/globals'
import type { Route } from 'playwright-core'
import { browserTest } from '../support/browser/browser-test.js'
import { PASSWORD, type Scene } from './scene.js'
import { run, write } from './support/playground-page.js'
import { wordsOf } from './support/words.js'

export function faultTests(scene: Scene): void {
  browserTest(
    'a session that ends elsewhere asks for the password in place, and what was typed is submitted once',
    scene.visit(async (visit) => {
      const { page, examine } = visit
      await scene.signUp(visit)
      await page.getByRole('button', { name: 'Submit a first job' }).click()
      await page.getByLabel('Name (optional)').fill('typed before the end')
      // As from another device, right before the submission arrives: any earlier, another request could learn of the end first.
      const signOut = async (route: Route) => {
        await page.request.post(`${scene.platform.url()}/api/auth/sign-out`)
        await route.continue()
      }
      await page.route('**/api/jobs/submit', signOut, { times: 1 })
      await page.getByRole('button', { name: 'Submit', exact: true }).click()
      const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
      await dialog.waitFor()
      await examine()
      await dialog.getByLabel(/^Password of/).fill(PASSWORD)
      await dialog.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('heading', { level: 1, name: 'typed before the end' }).waitFor()
      const list = await page.request.get(`${scene.platform.url()}/api/jobs`)
      expect(((await list.json()) as { total: number }).total).toBe(1)
    })
  )

  browserTest(
    'a submission that the service refuses shows its words at the field, and the next try has another key',
    scene.visit(async (visit) => {
      const { page } = visit
      await scene.signUp(visit)
      const keys: (string | undefined)[] = []
      page.on('request', (request) => {
        if (request.url().endsWith('/api/jobs/submit')) keys.push(request.headers()['idempotency-key'])
      })
      await page.getByRole('button', { name: 'Submit a first job' }).click()
      await page.getByLabel('Shots').fill('many')
      await page.getByRole('button', { name: 'Submit', exact: true }).click()
      await page.getByText(/must be/).waitFor()
      await page.getByRole('button', { name: 'Submit', exact: true }).click()
      await page.getByLabel('Shots').fill('10')
      await page.getByRole('button', { name: 'Submit', exact: true }).click()
      await page.getByRole('heading', { level: 1, name: /^Job / }).waitFor()
      expect(keys).toHaveLength(3)
      expect(keys[0]).toBe(keys[1])
      expect(new Set(keys).size).toBe(2)
      expect(keys).not.toContain(undefined)
    })
  )

  browserTest(
    'a service that cannot be reached is named on the page, which continues by itself when it is back',
    scene.visit(async (visit) => {
      const { page, open } = visit
      await scene.signUp(visit)
      await open('/backends')
      await page.getByRole('heading', { name: 'Simulators' }).waitFor()
      const requests = /\/(api\/|healthz)/
      await page.route(requests, (route) => route.abort('connectionrefused'))
      await page.getByRole('link', { name: 'Jobs', exact: true }).click()
      await page.getByText('The page continues as soon as it is back').waitFor()
      await page.unroute(requests)
      await page.getByRole('heading', { name: 'There is no job yet' }).waitFor()
      await page.getByText('The page continues as soon as it is back').waitFor({ state: 'detached' })
    })
  )

  browserTest(
    'an address without a page says so, and a job of another team is refused in the words of the service',
    scene.visit(async (visit) => {
      const { page, open } = visit
      await scene.signUp(visit)
      const other = await scene.platform.submit({
        inline_code: 'OPENQASM 2.0; include "qelib1.inc"; qreg q[1]; h q[0];',
        backend: 'local',
        params: { shots: 1 }
      })
      await open('/no/such/page')
      await page.getByRole('heading', { name: 'There is no page at this address' }).waitFor()
      await open(`/jobs/${other}`)
      await page.getByRole('alert').filter({ hasText: 'no such job' }).waitFor()
    })
  )

  browserTest(
    'the status of a machine has the age of the last look, and an old one says so',
    scene.visit(async (visit) => {
      const { page, open, examine } = visit
      await scene.signUp(visit)
      const ages: Record<string, number> = { 'ionq-direct-simulator': 60_000, 'iqm-garnet': 50 * 3_600_000 }
      await page.route('**/api/backends', async (route) => {
        const response = await route.fetch()
        const catalogue = (await response.json()) as { backends: { slug: string }[] }
        const backends = catalogue.backends.map((backend) => {
          const age = ages[backend.slug]
          return age === undefined
            ? backend
            : { ...backend, status: 'online', statusUpdatedAt: new Date(Date.now() - age).toISOString() }
        })
        await route.fulfill({ response, json: { ...catalogue, backends } })
      })
      await open('/backends')
      const card = (slug: string) => page.getByRole('listitem').filter({ has: page.getByText(slug, { exact: true }) })
      await card('iqm-garnet')
        .getByText(/^online, as of .* \(2 d 2 h ago\) Not looked at since then, so it may have changed\.$/)
        .waitFor()
      await card('ionq-direct-simulator')
        .getByText(/^online, as of .* \(\d+ min \d\d s ago\)$/)
        .waitFor()
      await card('local').getByText('online', { exact: true }).waitFor()
      await examine()
    })
  )

  browserTest(
    'a text of no known language is refused in the words of the service',
    scene.visit(async (visit) => {
      const { page, open } = visit
      await scene.signUp(visit)
      await open('/run')
      await page.getByLabel('Runs on').selectOption('local')
      await write(page, 'nothing that is known')
      const refused = page.waitForResponse((response) => response.url().endsWith('/api/playground/run'))
      await run(page).click()
      const response = await refused
      expect(response.status()).toBe(422)
      await page
        .getByRole('alert')
        .getByText(wordsOf(await response.json()))
        .waitFor()
      await page.getByRole('button', { name: 'Submit as a job' }).click()
      const dialog = page.getByRole('dialog', { name: 'Submit a job' })
      await dialog.getByRole('button', { name: 'Submit', exact: true }).click()
      await dialog.getByText(/could not be detected/).waitFor()
    })
  )

  browserTest(
    'a suspended team and emulated hardware are named on every page',
    scene.visit(async (visit) => {
      const { page, open } = visit
      await scene.signUp(visit)
      const made = await page.request.post(`${scene.platform.url()}/api/teams`, { data: { name: 'Late payers' } })
      const { id } = (await made.json()) as { id: string }
      await page.route('**/api/auth/session', async (route) => {
        const response = await route.fetch()
        const session = (await response.json()) as { teams: object[] }
        const teams = session.teams.map((team) => ({ ...team, suspended: true, suspended_reason: 'unpaid' }))
        await route.fulfill({ response, json: { ...session, teams } })
      })
      await page.route('**/api/backends', async (route) => {
        const response = await route.fetch()
        const catalogue = (await response.json()) as { backends: object[] }
        const backends = catalogue.backends.map((backend) => ({ ...backend, emulated: true }))
        await route.fulfill({ response, json: { ...catalogue, backends } })
      })
      await open(`/jobs?team=${id}`)
      await page.getByText('The team Late payers is suspended and can be read only. Reason: unpaid').waitFor()
      await page.getByText('Emulators run the jobs of hardware providers here').waitFor()
    })
  )
}
