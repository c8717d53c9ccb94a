// The forms for a job: what they say before the press, what they send, and where a refusal stands.
import { expect } from '@jest/globals'
import { eq } from 'drizzle-orm'
import type { Page } from 'playwright-core'
import { backends } from '../../db/tables/backends.js'
import { browserTest } from '../support/browser/browser-test.js'
import { eventually } from '../support/eventually.js'
import { analogProgram } from '../support/jobs/analog.js'
import { type Scene, submitted } from './scene.js'
import { saved } from './scripts/pages.js'

/** A simulator with a price, while a test needs one. */
const PAID = 'aer-mps'

const wide = (qubits: number) => `OPENQASM 3.0;\ninclude "stdgates.inc";\nqubit[${qubits}] q;\nh q;\n`

export function submitFormTests(scene: Scene): void {
  const submitButton = (page: Page) => page.getByRole('button', { name: 'Submit', exact: true })
  const idOf = (page: Page) => new URL(page.url()).pathname.split('/').at(-1)!
  const record = async (page: Page, id: string) =>
    (await (await page.request.get(`${scene.platform.url()}/api/jobs/${id}`)).json()) as Record<string, unknown>

  browserTest(
    'a circuit that is too wide, and a cap below the price, are refused before the press in the words of the service',
    scene.visit(async (visit) => {
      const { page, examine } = visit
      await scene.signUp(visit)
      const { db } = scene.platform.connection
      await db.update(backends).set({ taskFee: 600_000n }).where(eq(backends.slug, PAID))
      try {
        await page.getByRole('button', { name: 'Submit a first job' }).click()
        const row = (name: RegExp) => page.getByRole('region', { name: 'Backends' }).getByRole('row', { name })
        await page.getByLabel('Program').fill(wide(90))
        await row(/^Local/)
          .getByText(/backend: the circuit has 90 qubits/)
          .waitFor()
        await row(/^Local/)
          .getByRole('radio')
          .check()
        expect(await submitButton(page).isDisabled()).toBe(true)
        await examine()
        await page.getByLabel('Program').fill(wide(4))
        await row(/^Local/)
          .getByText('can run it')
          .waitFor()
        expect(await submitButton(page).isDisabled()).toBe(false)
        const paid = row(/matrix product/i)
        await paid.getByText('$0.60').waitFor()
        await page.getByLabel('Cost at most, in USD (optional)').fill('0.5')
        await paid.getByText(/max_cost_usd/).waitFor()
        await paid.getByRole('radio').check()
        expect(await submitButton(page).isDisabled()).toBe(true)
        await page.getByLabel('Cost at most, in USD (optional)').fill('0.6')
        await paid.getByText('can run it').waitFor()
      } finally {
        await db.update(backends).set({ taskFee: 0n }).where(eq(backends.slug, PAID))
      }
    })
  )

  browserTest(
    'the rest of a submission is in the form too, each refusal at its field, and the service can choose the backend',
    scene.visit(async (visit) => {
      const { page, examine } = visit
      await scene.signUp(visit)
      await page.getByRole('button', { name: 'Submit a first job' }).click()
      await page.getByText('Charged to a team of your own').waitFor()
      await page.getByText('More', { exact: true }).click()
      const params = page.getByLabel('Parameters, as JSON (optional)')
      await params.fill('{"theta": 1.0,')
      await page.getByText('must be JSON of an object').first().waitFor()
      expect(await submitButton(page).isDisabled()).toBe(true)
      await params.fill('{"observables": ["no such"]}')
      await page.getByText(/^observables/).waitFor()
      await params.fill('{"observables": ["ZZ"], "exact": 1.50}')
      // With it goes a line of the form, and what lies below moves up.
      await page.getByText(/^observables/).waitFor({ state: 'hidden' })
      await page.getByLabel(/^Time-out/).fill('0')
      await page.getByLabel('Labels, one a line (optional)').fill('first, of all\nsecond')
      await submitButton(page).click()
      await page.getByText('must be an integer from 1 to 900').waitFor()
      await page.getByLabel(/^Time-out/).fill('60')
      await page.getByLabel('Not before (optional)').fill('soon')
      await submitButton(page).click()
      await page.getByText(/must be .*time|date-time/).waitFor()
      await page.getByLabel('Not before (optional)').fill(new Date(Date.now() + 3_600_000).toISOString())
      await page.getByRole('radio', { name: 'The service chooses' }).check()
      await page.getByLabel('Kind of backend').selectOption('false')
      await page.getByLabel('Qubits at least (optional)').fill('none')
      await submitButton(page).click()
      await page.getByText('must be an integer from 1 to 1000000').waitFor()
      await page.getByLabel('Qubits at least (optional)').fill('5')
      await examine()
      await page.setViewportSize({ width: 360, height: 740 })
      expect((await page.getByRole('dialog').boundingBox())!.width).toBeLessThanOrEqual(360)
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
      await submitButton(page).click()
      await page.getByRole('heading', { level: 1, name: /^Job / }).waitFor()
      const job = await record(page, idOf(page))
      expect(job).toMatchObject({
        labels: ['first, of all', 'second'],
        timeout_seconds: 60,
        params: { observables: ['ZZ'], shots: 1000 },
        not_before: expect.any(String),
        choice: { asked: { hardware: false, min_qubits: 5 } }
      })
      const text = await (await page.request.get(`${scene.platform.url()}/api/jobs/${idOf(page)}`)).text()
      expect(text).toContain('"exact":1.50')
    })
  )

  browserTest(
    'an analog program is edited as one, and judged as one; a call of one function says why it is not edited',
    scene.visit(async (visit) => {
      const { page, open } = visit
      await scene.signUp(visit)
      const id = await submitted(page, scene, { not_before: new Date(Date.now() + 3_600_000).toISOString() })
      const shown = async (changes: object) => {
        await page.route(`**/api/jobs/${id}?result=omit`, async (route) => {
          const response = await route.fetch()
          const job = (await response.json()) as { source: object }
          const { source = {}, ...others } = changes as { source?: object }
          await route.fulfill({ response, json: { ...job, ...others, source: { ...job.source, ...source } } })
        })
        await open(`/jobs/${id}`)
      }
      // Only a quantum computer takes one, which no test has.
      await page.route(`**/api/jobs/${id}/source`, (route) =>
        route.fulfill({ body: analogProgram(), contentType: 'text/plain' })
      )
      await shown({ framework: 'ahs', source: { kind: 'circuit', format: 'ahs' } })
      await page.getByRole('button', { name: 'Edit and run again' }).click()
      expect(await page.getByLabel('Format').inputValue()).toBe('ahs')
      await page.getByText('local runs circuits, not analog programs').first().waitFor()
      expect(await submitButton(page).isDisabled()).toBe(true)
      const sent = page.waitForRequest((request) => request.url().endsWith('/api/jobs/submit'))
      await page.getByRole('radio', { name: 'The service chooses' }).check()
      await submitButton(page).click()
      const body = (await sent).postDataJSON() as object
      expect(body).toMatchObject({ circuit: { format: 'ahs', payload: analogProgram() } })
      expect(body).not.toHaveProperty('framework')
      await page.getByRole('alert').waitFor()
      await page.unrouteAll({ behavior: 'wait' })
      await shown({ entrypoint: 'work' })
      await page.getByText('This job calls work with arguments').waitFor()
      expect(await page.getByRole('button', { name: 'Edit and run again' }).isDisabled()).toBe(true)
    })
  )

  browserTest(
    'a run of a script is judged with all that it submits',
    scene.visit(async (visit) => {
      const { page, open, examine } = visit
      await scene.signUp(visit)
      await open(`/scripts/${await saved(page, scene, { name: 'wide', script_content: wide(90) })}`)
      await page.getByRole('button', { name: 'Run', exact: true }).click()
      const dialog = page.getByRole('dialog', { name: 'Run this script' })
      await dialog.getByText(/^Charged to the team/).waitFor()
      await dialog
        .getByText(/backend: the circuit has 90 qubits/)
        .first()
        .waitFor()
      await dialog.getByText('More', { exact: true }).click()
      await dialog.getByLabel('Parameters, as JSON (optional)').fill('{"noise_model": {"like": "no such"}}')
      await dialog.getByText(/^noise_model/).waitFor()
      await dialog.getByLabel('Parameters, as JSON (optional)').fill('{"mitigation": {"readout": true}}')
      await eventually(async () => (await dialog.getByText('params.mitigation').count()) > 0)
      await examine()
    })
  )

  browserTest(
    'a run of a script takes labels and parameters along, on a backend that is named or that the service chooses',
    scene.visit(async (visit) => {
      const { page, open } = visit
      await scene.signUp(visit)
      const id = await saved(page, scene)
      for (const backend of ['Local simulator', 'The service chooses']) {
        await open(`/scripts/${id}`)
        await page.getByRole('button', { name: 'Run', exact: true }).click()
        const dialog = page.getByRole('dialog', { name: 'Run this script' })
        await dialog.getByRole('radio', { name: backend }).check()
        await dialog.getByText('More', { exact: true }).click()
        await dialog.getByLabel('Parameters, as JSON (optional)').fill('{"observables": ["ZZ", "XX"]}')
        await dialog.getByLabel('Labels, one a line (optional)').fill(backend)
        await dialog.getByLabel(/^Time-out/).fill('66')
        await dialog.getByRole('button', { name: 'Run', exact: true }).click()
        await page.getByRole('heading', { level: 1, name: /^Job / }).waitFor()
        const job = await record(page, idOf(page))
        expect(job).toMatchObject({
          labels: [backend],
          timeout_seconds: 66,
          params: { observables: ['ZZ', 'XX'], shots: 1000 },
          source: { kind: 'script', script_version: 1 }
        })
        expect(job.choice === null).toBe(backend === 'Local simulator')
      }
    })
  )
}
