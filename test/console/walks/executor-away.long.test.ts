// What a person reads while no executor can be reached.
import { expect } from '@jest/globals'
import { browserTest } from '../../support/browser/browser-test.js'
import { sceneOfFile } from '../scene.js'
import { ranOn, run } from '../support/playground-page.js'
import { wordsOf } from '../support/words.js'

const scene = sceneOfFile({ executor: true })

browserTest(
  'a run on the server without an executor is refused in the words of the service, and runs once one is back',
  scene.visit(async (visit) => {
    const { page, open } = visit
    await scene.signUp(visit)
    await open('/run')
    await page.getByLabel('Runs on').selectOption('local')
    await scene.platform.kill('executor')
    const refused = page.waitForResponse((response) => response.url().endsWith('/api/playground/run'))
    await run(page).click()
    const response = await refused
    expect(response.status()).toBe(502)
    await page
      .getByRole('alert')
      .getByText(wordsOf(await response.json()))
      .waitFor()
    await scene.platform.start.executor()
    await run(page).click()
    await ranOn(page, 'Ran on local on the server')
  }),
  150_000
)
