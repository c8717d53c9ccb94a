// What is typed into the final dialogs of a capsule: kept whole, refused at its field, and nothing happens until it is right.
import { expect } from '@jest/globals'
import { browserTest } from '../../support/browser/browser-test.js'
import type { Scene } from '../scene.js'
import { capsuleOfJob } from './walk.js'

export function typedTests(scene: Scene): void {
  browserTest(
    'an emptied exit code and a readme that is too long are kept and refused at their fields, nothing is final before, and all of it is in the trail',
    scene.visit(async (visit) => {
      const { page, open, examine } = visit
      await scene.signUp(visit)
      const id = await capsuleOfJob(page, scene, 'Typed')
      await open(`/capsules/${id}`)
      const dialog = page.getByRole('dialog')
      const isIn = (state: string) => page.locator('[aria-current=step]').filter({ hasText: state }).waitFor()

      await page.getByRole('button', { name: 'Seal', exact: true }).click()
      const exitCode = dialog.getByLabel('Exit code')
      await exitCode.fill('')
      await dialog.getByRole('button', { name: 'Seal', exact: true }).click()
      await dialog.locator('[slot=errorMessage]').waitFor()
      expect(await exitCode.getAttribute('aria-invalid')).toBe('true')
      await examine()
      await isIn('runnable')
      await exitCode.fill('0')
      await dialog.getByRole('button', { name: 'Seal', exact: true }).click()
      await isIn('sealed')

      await page.getByRole('button', { name: 'Publish', exact: true }).click()
      const readme = dialog.getByLabel('Readme in Markdown (optional)')
      await dialog.getByText('at most 50,000 characters').waitFor()
      await readme.focus()
      const pasted = `${'A readme. '.repeat(5_100)}The last words.`
      await page.keyboard.insertText(pasted)
      expect(await readme.inputValue()).toBe(pasted)
      await dialog.getByLabel('Description').fill('d')
      await dialog.getByRole('button', { name: 'Publish', exact: true }).click()
      await dialog.locator('[slot=errorMessage]').filter({ hasText: '50000' }).waitFor()
      expect(await readme.getAttribute('aria-invalid')).toBe('true')
      expect(await readme.inputValue()).toBe(pasted)
      await isIn('sealed')
      await readme.fill('# Short')
      await dialog.getByRole('button', { name: 'Publish', exact: true }).click()
      await isIn('published')

      await page.getByRole('link', { name: 'its audit trail' }).click()
      await page.getByText('Only what was done to the capsule').waitFor()
      expect(new URL(page.url()).searchParams.get('capsule')).toBe(id)
      await page.getByText('3 entries are read, all there are').waitFor()
    }),
    120_000
  )
}
