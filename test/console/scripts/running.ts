// Running scripts, and saving the code of a job as one.
import { expect } from '@jest/globals'
import { browserTest } from '../../support/browser/browser-test.js'
import { type Scene, submitted } from '../scene.js'
import { program } from '../support/playground-page.js'
import { editorIsThere, press, read, saved } from './pages.js'

export function runTests(scene: Scene): void {
  browserTest(
    'is saved as a script from its page, once it is complete',
    scene.visit(async (visit) => {
      const { page, open, examine } = visit
      await scene.signUp(visit)
      const waiting = { name: 'later', not_before: new Date(Date.now() + 3_600_000).toISOString() }
      await open(`/jobs/${await submitted(page, scene, waiting)}`)
      await page.getByText('job_id: must be a completed job').first().waitFor()
      expect(await page.getByRole('button', { name: 'Save as a script' }).isDisabled()).toBe(true)
      await open(`/jobs/${await submitted(page, scene, { name: 'Kept Bell pair' })}`)
      await page.getByLabel('Timeline').getByText('completed', { exact: true }).waitFor({ timeout: 90_000 })
      await press(page, 'Save as a script')
      const dialog = page.getByRole('dialog', { name: 'Save as a script' })
      expect(await dialog.getByLabel('Slug').inputValue()).toBe('kept-bell-pair')
      await dialog.getByLabel('Description').fill('of a job')
      await dialog.getByLabel('Slug').fill('bell-state')
      await examine()
      await dialog.getByRole('button', { name: 'Save', exact: true }).click()
      await dialog.getByText('"bell-state" is taken').waitFor()
      await dialog.getByLabel('Slug').fill('kept')
      await dialog.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByRole('heading', { level: 1, name: 'Kept Bell pair' }).waitFor()
      await editorIsThere(page)
      expect(await program(page).textContent()).toContain('h q[0]')
    })
  )

  browserTest(
    'a template has a form with its ranges, and runs with what was chosen',
    scene.visit(async (visit) => {
      const { page, open, examine } = visit
      await scene.signUp(visit)
      await open('/scripts?kind=template&q=ghz')
      await page.getByRole('link', { name: 'GHZ state' }).click()
      await press(page, 'Run')
      const dialog = page.getByRole('dialog', { name: 'Run this script' })
      await dialog.getByText('Number of qubits; from 2 to 100; 3 where empty').waitFor()
      await dialog.getByText(/Estimated cost/).waitFor()
      await examine()
      const run = dialog.getByRole('button', { name: 'Run', exact: true })
      await dialog.getByLabel('num_qubits').fill('101')
      await dialog.getByText('num_qubits: must be an integer from 2 to 100').first().waitFor()
      expect(await run.isDisabled()).toBe(true)
      await dialog.getByLabel('num_qubits').fill('4')
      await dialog.getByLabel('Seed (optional)').fill('5')
      await run.click()
      await page.getByRole('heading', { level: 1, name: /^Job / }).waitFor()
      const job = await read<{ params: object }>(
        page,
        scene,
        `/api/jobs/${new URL(page.url()).pathname.split('/').pop()}`
      )
      expect(job.params).toEqual({ num_qubits: 4, shots: 1000, seed: 5 })
      await page.getByLabel('Timeline').getByText('completed', { exact: true }).waitFor({ timeout: 60_000 })
      await page.goBack()
      await page.getByRole('tab', { name: 'Jobs' }).click()
      await page
        .getByRole('row', { name: /completed/ })
        .getByText('1', { exact: true })
        .waitFor()
    })
  )

  browserTest(
    'each warning of the analysis needs consent, and another form another analysis',
    scene.visit(async (visit) => {
      const { page, open, examine } = visit
      await scene.signUp(visit)
      const code = 'import requests\ndef main(shots, size=3):\n    return {"size": size}\n'
      const id = await saved(page, scene, { script_content: code })
      await open(`/scripts/${id}`)
      await press(page, 'Run')
      const dialog = page.getByRole('dialog', { name: 'Run this script' })
      await dialog.getByText(/Estimated cost/).waitFor()
      await dialog.getByLabel('size').fill('12345678901234567890')
      const run = dialog.getByRole('button', { name: 'Run', exact: true })
      await run.click()
      const consent = dialog.getByLabel('Analysis').getByRole('checkbox')
      await consent.first().waitFor()
      await dialog.getByText('Each warning needs your consent.').waitFor()
      await examine()
      await dialog.getByLabel('Shots').fill('20')
      await consent.first().waitFor({ state: 'detached' })
      await run.click()
      await consent.first().waitFor()
      for (const box of await consent.all()) await box.check()
      await run.click()
      await dialog.getByText('cannot be carried exactly').waitFor()
      // A float, for Python.
      await dialog.getByLabel('size').fill('1.0')
      await run.click()
      await page.getByRole('heading', { level: 1, name: /^Job / }).waitFor()
      const response = await page.request.get(
        `${scene.platform.url()}/api/jobs/${new URL(page.url()).pathname.split('/').pop()}`
      )
      expect(await response.text()).toContain('"params":{"size":1.0,"shots":20}')
    })
  )
}
