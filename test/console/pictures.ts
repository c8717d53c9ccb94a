// What came out of a job, as pictures with their tables: task graphs, sweeps, expectation values, comparisons.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from '@jest/globals'
import { projectRoot } from '../../apps/cli/stack/project.js'
import { browserTest } from '../support/browser/browser-test.js'
import type { Visit } from '../support/browser/visit.js'
import { bellQasm3 } from '../support/jobs/builders.js'
import { type Scene, submitted } from './scene.js'

const example = (name: string) => readFileSync(join(projectRoot, 'examples', name), 'utf8')
const WIDTH = 360

export function pictureTests(scene: Scene): void {
  const completed = async ({ page, open }: Visit, id: string, tab = 'result') => {
    await open(`/jobs/${id}?tab=${tab}`)
    await page.getByLabel('Timeline').getByText('completed', { exact: true }).waitFor({ timeout: 90_000 })
  }
  const fits = async ({ page, examine }: Visit) => {
    await examine()
    await page.setViewportSize({ width: WIDTH, height: 740 })
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(WIDTH)
    await page.setViewportSize({ width: 1280, height: 720 })
  }

  browserTest(
    'the points of a sweep are a plot with error bars, a table, and the counts of a chosen one',
    scene.visit(async (visit) => {
      const { page } = visit
      await scene.signUp(visit)
      const points = [0, 1.5, 3].map((theta) => ({ theta }))
      const id = await submitted(page, scene, {
        inline_code: example('rotation.qasm'),
        framework: 'openqasm',
        params: { shots: 100, seed: 1, observables: ['ZI'], observables_method: 'sampled', points }
      })
      await completed(visit, id)
      await page.getByRole('img', { name: 'Values of the sweep' }).waitFor()
      await page.getByText('Against theta. Bars: one standard error.').waitFor()
      const row = page.getByRole('region', { name: 'Points' }).getByRole('row', { name: /theta = 1\.5/ })
      await row.getByText(/^ZI: \S+ ± \S+$/).waitFor()
      await page.getByLabel('Counts of point').selectOption('2')
      await page.getByText('Qubit 0 leftmost.').first().waitFor()
      await fits(visit)
    })
  )

  browserTest(
    'expectation values stand with their errors, and the tasks of a workflow as a chart',
    scene.visit(async (visit) => {
      const { page } = visit
      await scene.signUp(visit)
      const observed = await submitted(page, scene, { params: { shots: 100, observables: ['ZZ'] } })
      const graph = await submitted(page, scene, {
        inline_code: example('fan-out.py'),
        framework: 'marqov',
        // In mode direct its tasks run within one.
        execution_mode: 'temporal',
        params: { largest: 3, shots: 10 }
      })
      await completed(visit, observed)
      const values = page.getByRole('region', { name: 'Expectation values' })
      await values.getByRole('row', { name: /ZZ 1\S* \(exact\) exact/ }).waitFor()
      await completed(visit, graph, 'tasks')
      await page.getByRole('heading', { name: 'Task graph' }).waitFor()
      await page.getByText(/^3 tasks: 3 completed\./).waitFor()
      await page.getByText('The same as a table').click()
      await page
        .getByRole('region', { name: 'All tasks' })
        .getByRole('row', { name: /gather/ })
        .waitFor()
      await fits(visit)
    })
  )

  browserTest(
    'two jobs are compared from the page of one: the verdict with its error rate and bound, and their bars in pairs',
    scene.visit(async (visit) => {
      const { page, open } = visit
      await scene.signUp(visit)
      const run = (name: string, seed: number) =>
        submitted(page, scene, { name, inline_code: bellQasm3(), params: { shots: 4_000, seed } })
      const [a, b] = [await run('Bell one', 1), await run('Bell two', 2)]
      for (const id of [b, a]) await completed(visit, id)
      await page.getByRole('link', { name: 'Compare with another job' }).click()
      expect(await page.getByLabel('Id of the first job').inputValue()).toBe(a)
      await page.getByLabel('Id of the second job').fill(b)
      await page.getByRole('button', { name: 'Compare' }).click()
      const verdict = page.getByRole('region', { name: 'Verdict' })
      await verdict.getByText('consistent', { exact: true }).waitFor()
      await verdict.getByText(/found different in 1 % of all comparisons/).waitFor()
      await verdict.getByText(/the true one at most 0\.\d+ with 95 % confidence/).waitFor()
      await page.getByRole('img', { name: /^Counts of both jobs/ }).waitFor()
      await page.getByText(/Bell one, 4,000 shots/).waitFor()
      expect(new URL(page.url()).searchParams.get('b')).toBe(b)
      await fits(visit)
      // Too few shots for the margin: the service says how many it would take.
      await open(`/jobs/compare?a=${a}&b=${b}&margin=0.001`)
      await page
        .getByText(/A verdict would take [\d,]+ shots of each job|not testable/)
        .first()
        .waitFor()
      await open(`/jobs/compare?a=${a}&b=00000000-0000-7000-8000-000000000000`)
      await page.getByRole('alert').getByText('b: no such job').waitFor()
    })
  )
}
