import { expect } from '@jest/globals'
import { browserTest } from '../support/browser/browser-test.js'
import { PASSWORD, type Scene } from './scene.js'

export function keyboardTests(scene: Scene): void {
  browserTest(
    'a person signs up, submits a job and reads its source without a pointer',
    scene.visit(async (visit) => {
      const { page, open } = visit
      const { keyboard } = page
      const focused = () => page.evaluate<string>('document.activeElement.textContent || document.activeElement.name')
      const tabTo = async (name: string) => {
        for (let presses = 0; presses < 40; presses++) {
          await keyboard.press('Tab')
          if ((await focused()) === name) return
        }
        throw new Error(`Tab does not reach ${name}`)
      }
      await open(`/sign-up?code=${await scene.code()}`)
      await page.getByLabel('Email').waitFor()
      await tabTo('email')
      await keyboard.type('keys@example.org')
      await keyboard.press('Tab')
      await keyboard.press('Tab')
      await keyboard.type(PASSWORD)
      await keyboard.press('Enter')
      await page.getByRole('heading', { name: 'There is no job yet' }).waitFor()
      await tabTo('Submit a first job')
      await keyboard.press('Enter')
      await page.getByRole('dialog', { name: 'Submit a job' }).waitFor()
      // Tab passes over a button that cannot be pressed yet.
      await page.getByRole('button', { name: 'Submit', exact: true, disabled: false }).waitFor()
      await tabTo('Submit')
      await keyboard.press('Enter')
      await page.getByRole('heading', { level: 1, name: /^Job / }).waitFor()
      await tabTo('Result')
      for (let tab = 0; tab < 5; tab++) await keyboard.press('ArrowRight')
      await page.getByRole('region', { name: 'Program' }).getByText('h q[0]').waitFor()
      expect(new URL(page.url()).searchParams.get('tab')).toBe('source')
    })
  )

  browserTest(
    'Ctrl-K goes to pages, backends and jobs, ? shows the keys, and Escape closes both',
    scene.visit(async (visit) => {
      const { page, examine } = visit
      const { keyboard } = page
      await scene.signUp(visit)
      const first = (name: string) => page.getByRole('menuitem').first().filter({ hasText: name }).waitFor()
      await keyboard.press('Control+k')
      await page.getByRole('dialog', { name: 'Go to' }).waitFor()
      await examine()
      await keyboard.type('backends')
      await first('Backends')
      await keyboard.press('Enter')
      await page.getByRole('heading', { level: 1, name: 'Backends' }).waitFor()
      await keyboard.press('Control+k')
      await page.getByRole('dialog', { name: 'Go to' }).waitFor()
      await keyboard.type('jobs on local')
      await first('Jobs on Local')
      await keyboard.press('Enter')
      await page.getByRole('heading', { name: 'No job matches these filters' }).waitFor()
      expect(new URL(page.url()).searchParams.get('backend')).toBe('local')
      await page.locator('body').press('?')
      const keys = page.getByRole('dialog', { name: 'Keys' })
      await keys.waitFor()
      await examine()
      await keyboard.press('Escape')
      await keys.waitFor({ state: 'detached' })
    })
  )
}
