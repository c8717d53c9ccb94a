import { expect } from '@jest/globals'
import { browserTest } from '../../support/browser/browser-test.js'
import type { Scene } from '../scene.js'
import { write, written } from '../support/playground-page.js'
import { editorIsThere, press } from './pages.js'

export function scriptTests(scene: Scene): void {
  browserTest(
    'a script is written, refused at its line, saved, changed, compared and published in a dialog that says what is final',
    scene.visit(async (visit) => {
      const { page, open, examine } = visit
      await scene.signUp(visit)
      await open('/scripts?kind=own')
      await press(page, 'Write a script')
      await editorIsThere(page)
      await page.getByLabel('Name', { exact: true }).fill('Two qubits')
      await write(page, 'from qiskit import QuantumCircuit\nqc = QuantumCircuit(2\n')
      await page.getByLabel('Type').selectOption('script')
      await press(page, 'Save')
      await page.getByRole('button', { name: /^Line 2, column / }).click()
      await write(page, 'from qiskit import QuantumCircuit\nimport requests\ncircuit = QuantumCircuit(2)\n')
      await press(page, 'Save')
      await page.getByRole('heading', { level: 1, name: 'Two qubits' }).waitFor()
      await page.getByLabel('Warnings').getByRole('button', { name: 'Line 2' }).click()
      await examine()
      await write(page, 'from qiskit import QuantumCircuit\ncircuit = QuantumCircuit(3)\n')
      await press(page, 'Save')
      await page.getByText('Saved as version 2.').waitFor()
      await page.getByRole('tab', { name: 'Versions' }).click()
      const difference = page.getByLabel('From version 1 to version 2')
      await difference.getByText('QuantumCircuit(3)').waitFor()
      await difference.locator('.cm-deletedChunk').first().waitFor()
      await examine()
      await press(page, 'Publish')
      await page.getByRole('dialog').getByText('This is final:').waitFor()
      await press(page, 'Publish for good')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await page.getByRole('tab', { name: 'Source' }).click()
      await page.getByText('This script is published').first().waitFor()
      expect(await page.getByRole('button', { name: 'Delete', exact: true }).isDisabled()).toBe(true)
      await open('/scripts?kind=public&q=two')
      await page.getByRole('link', { name: 'Two qubits' }).waitFor()
      await page.getByText('1 of 1 scripts').waitFor()
    })
  )
}

export function playgroundToScriptTests(scene: Scene): void {
  browserTest(
    'the program of the playground becomes a new script, and replaces text that is not saved after a question alone',
    scene.visit(async (visit) => {
      const { page, open } = visit
      await scene.signUp(visit)
      await open('/run')
      await write(page, 'OPENQASM 3.0;\nqubit first;\n')
      await press(page, 'Save as a script')
      await page.getByRole('heading', { level: 1, name: /^New script/ }).waitFor()
      await editorIsThere(page)
      expect(await written(page)).toContain('qubit first;')
      await page.getByLabel('Name', { exact: true }).fill('Named, and not saved')
      const again = async (answer: 'accept' | 'dismiss') => {
        await page.getByRole('link', { name: 'Playground' }).first().click()
        await write(page, 'OPENQASM 3.0;\nqubit second;\n')
        page.once('dialog', (dialog) => void dialog[answer]())
        await press(page, 'Save as a script')
        await page.getByRole('heading', { level: 1, name: /^New script/ }).waitFor()
        await editorIsThere(page)
        return [await page.getByLabel('Name', { exact: true }).inputValue(), await written(page)]
      }
      expect(await again('dismiss')).toEqual(['Named, and not saved', expect.stringContaining('qubit first;')])
      expect(await again('accept')).toEqual(['', expect.stringContaining('qubit second;')])
      await page.getByLabel('Name', { exact: true }).fill('The second')
      await press(page, 'Save')
      await page.getByRole('heading', { level: 1, name: 'The second' }).waitFor()
    })
  )
}
