import { expect } from '@jest/globals'
import { browserTest } from '../support/browser/browser-test.js'
import { eventually } from '../support/eventually.js'
import { bellQasm3 } from '../support/jobs/builders.js'
import { type Scene, submitted } from './scene.js'

/** What is typed by someone who wants to break the page. */
const hostile = '<img src=x onerror="document.title=1"><script>document.title=2</script>"\'`{{7*7}}javascript:alert(1)‮'

export function jobTests(scene: Scene): void {
  browserTest(
    'a first job is submitted with its estimate on screen, and followed to its result without a reload',
    scene.visit(async (visit) => {
      const { page, open, examine } = visit
      await scene.signUp(visit)
      await page.getByRole('button', { name: 'Submit a first job' }).click()
      await page.getByText(/Estimated cost: \$0\.00/).waitFor()
      await examine()
      await page.getByLabel('Seed (optional)').fill('7')
      await page.getByLabel('Name (optional)').fill('Bell pair')
      await page.getByRole('button', { name: 'Submit', exact: true }).click()
      await page.getByRole('heading', { level: 1, name: 'Bell pair' }).waitFor()
      await page.getByLabel('Timeline').getByText('completed', { exact: true }).waitFor({ timeout: 90_000 })
      await page
        .getByLabel('Result')
        .getByText(/"counts"/)
        .waitFor()
      await page.getByText('Qubit 0 leftmost.').first().waitFor()
      const provenance = page.getByRole('region', { name: 'Provenance' })
      await provenance.getByText('sampled by a simulator of this service').waitFor()
      await provenance.getByText(/^statevector, qiskit-aer /).waitFor()
      expect(await provenance.getByText(/^[0-9a-f]{64}$/).count()).toBe(2)
      await examine()
      await page.getByRole('tab', { name: 'Source' }).click()
      await page.getByRole('region', { name: 'Program' }).getByText('h q[0]').waitFor()
      await examine()
      await page.getByRole('tab', { name: 'Circuit' }).click()
      await page.getByRole('group', { name: 'Gates, from left to right' }).waitFor()
      await examine()
      await page.getByRole('tab', { name: 'Attempts' }).click()
      await page.getByRole('cell', { name: 'completed' }).waitFor()
      await page.getByRole('tab', { name: 'Artifacts' }).click()
      await page.getByRole('columnheader', { name: 'SHA-256' }).or(page.getByText('The job has no files')).waitFor()
      // The first write made a team, which the list now names.
      await open('/jobs')
      await page.getByRole('link', { name: 'Bell pair' }).waitFor()
      await page.getByRole('heading', { level: 1, name: /^Jobs of / }).waitFor()
      await examine()
    })
  )

  browserTest(
    'the filters of the list are in its address, and what matches none of them says so',
    scene.visit(async (visit) => {
      const { page, open } = visit
      await scene.signUp(visit)
      for (const name of ['one', 'two']) await submitted(page, scene, { name })
      await open('/jobs')
      await page.getByRole('link', { name: 'two' }).waitFor()
      await page.getByLabel('Name, label or id').fill('one')
      await page.keyboard.press('Enter')
      await page.getByText('1 of 1 jobs').waitFor()
      expect(new URL(page.url()).searchParams.get('q')).toBe('one')
      await page.reload()
      await page.getByText('1 of 1 jobs').waitFor()
      await page.getByLabel('Status').selectOption('failed')
      await page.getByRole('heading', { name: 'No job matches these filters' }).waitFor()
    })
  )

  browserTest(
    'names, labels, programs and errors of any content are shown as text',
    scene.visit(async (visit) => {
      const { page, open } = visit
      await scene.signUp(visit)
      // A comment of the program, and an outcome that its main returns.
      const code = `import marqov\n# ${hostile}\ndef main():\n    print(${JSON.stringify(hostile)})\n    raise ValueError(${JSON.stringify(hostile)})\n`
      const id = await submitted(page, scene, {
        name: hostile,
        labels: [hostile.slice(0, 50)],
        inline_code: code,
        framework: 'marqov'
      })
      await open('/jobs')
      await page.getByRole('link', { name: hostile }).waitFor()
      await open(`/jobs/${id}`)
      await page
        .getByLabel('Timeline')
        .getByText(/^(completed|failed)$/)
        .waitFor({ timeout: 90_000 })
      for (const tab of ['Result', 'Circuit', 'Output', 'Attempts', 'Tasks', 'Source', 'Artifacts'])
        await page.getByRole('tab', { name: tab }).click()
      await page.getByRole('tab', { name: 'Source' }).click()
      await page.getByRole('region', { name: 'Program' }).getByText('onerror').waitFor()
      expect(await page.title()).toContain(hostile.slice(0, 20))
      expect(await page.locator('main img, main script').count()).toBe(0)
    })
  )

  browserTest(
    'a result shows every digit, and a large one its beginning and the way to all of it',
    scene.visit(async (visit) => {
      const { page, open } = visit
      await scene.signUp(visit)
      const id = await submitted(page, scene, {})
      await open(`/jobs/${id}`)
      await page.getByLabel('Timeline').getByText('completed', { exact: true }).waitFor({ timeout: 90_000 })
      const bodies = [
        JSON.stringify({ counts: { [hostile]: 1 } }).replace(
          /}$/,
          ',"exact":12345678901234567890.12345678901234567,"small":1e-400}'
        ),
        `{"counts":{"00":1},"long":"${'x'.repeat(7 * 1024 ** 2)}"}`
      ]
      for (const [index, body] of bodies.entries()) {
        await page.route(`**/api/jobs/${id}?result=omit`, async (route) => {
          const response = await route.fetch()
          const text = (await response.text()).replace(/"result_bytes":\d+/, `"result_bytes":${body.length}`)
          await route.fulfill({ response, body: text })
        })
        await page.route(`**/api/jobs/${id}/result`, (route) =>
          route.fulfill({ body, contentType: 'application/json' })
        )
        await open(`/jobs/${id}`)
        const shown = page.getByRole('region', { name: 'Result' })
        if (index === 0) {
          await shown.getByText('12345678901234567890.12345678901234567').waitFor()
          await shown.getByText('1e-400').waitFor()
          await shown.getByText('onerror').waitFor()
        } else {
          await page.getByText('This is its beginning').waitFor()
          expect(((await shown.textContent()) ?? '').length).toBeLessThan(100_000)
          const download = page.getByRole('link', { name: 'Download the result' })
          expect(await download.getAttribute('href')).toBe(`/api/jobs/${id}/result`)
        }
        await page.unrouteAll({ behavior: 'wait' })
      }
    })
  )

  browserTest(
    'a job that waits says why, and is cancelled from its page',
    scene.visit(async (visit) => {
      const { page, open, examine } = visit
      await scene.signUp(visit)
      const id = await submitted(page, scene, { not_before: new Date(Date.now() + 3_600_000).toISOString() })
      await open(`/jobs/${id}`)
      await page.getByText('Waiting: starts no earlier than').waitFor()
      await examine()
      await page.getByRole('button', { name: 'Cancel' }).click()
      await page.getByLabel('Timeline').getByText('cancelled', { exact: true }).waitFor()
      await eventually(async () => (await page.getByText('Waiting: starts').count()) === 0)
    })
  )

  browserTest(
    'the stream of a job is closed while its tab is hidden, and continues when it is seen again',
    scene.visit(async (visit) => {
      const { page, open } = visit
      await scene.signUp(visit)
      const id = await submitted(page, scene, { not_before: new Date(Date.now() + 3_600_000).toISOString() })
      const streams = { opened: 0, closed: 0 }
      const isStream = (request: { url(): string }) => request.url().endsWith(`/api/jobs/${id}/events`)
      page.on('request', (request) => void (isStream(request) && streams.opened++))
      page.on('requestfailed', (request) => void (isStream(request) && streams.closed++))
      await open(`/jobs/${id}`)
      await page.getByLabel('Timeline').getByText('pending', { exact: true }).waitFor()
      const look = (state: 'hidden' | 'visible') =>
        page.evaluate(
          `Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
          document.dispatchEvent(new Event('visibilitychange'))`
        )
      await look('hidden')
      await eventually(() => streams.closed === 1)
      await page.request.post(`${scene.platform.url()}/api/jobs/${id}/cancel`)
      expect(streams).toEqual({ opened: 1, closed: 1 })
      await look('visible')
      await page.getByLabel('Timeline').getByText('cancelled', { exact: true }).waitFor()
      expect(streams.opened).toBe(2)
    })
  )

  browserTest(
    'a job is run again as it was, and edited and run again in its own team, with all that it had',
    scene.visit(async (visit) => {
      const { page, open } = visit
      await scene.signUp(visit)
      // The first job makes a team, which is the one of pages whose address names none.
      await submitted(page, scene, {})
      const made = await page.request.post(`${scene.platform.url()}/api/teams`, { data: { name: 'The other team' } })
      const { id: team_id } = (await made.json()) as { id: string }
      const kept = {
        team_id,
        labels: ['a', 'b, c'],
        timeout_seconds: 77,
        execution_mode: 'temporal',
        max_cost_usd: 0.25
      }
      const params = { shots: 50, seed: 3, extract_state_vector: true }
      const id = await submitted(page, scene, { name: 'the original', params, ...kept })
      await open(`/jobs/${id}`)
      await page.getByRole('button', { name: 'Run again', exact: true }).click()
      await eventually(() => !page.url().includes(id) && /\/jobs\/[0-9a-f-]{36}/.test(page.url()))
      await page.getByRole('button', { name: 'Edit and run again' }).click()
      expect(await page.getByLabel('Shots').inputValue()).toBe('50')
      await page.getByText('Charged to the team The other team.').waitFor()
      await page.getByLabel('Name (optional)').fill('the edited one')
      await page.getByLabel('Program').fill(bellQasm3())
      await page.getByRole('button', { name: 'Submit', exact: true }).click()
      await page.getByRole('heading', { level: 1, name: 'the edited one' }).waitFor()
      const edited = await page.request.get(
        `${scene.platform.url()}${new URL(page.url()).pathname.replace('/jobs', '/api/jobs')}`
      )
      expect(await edited.json()).toMatchObject({ params, ...kept })
    })
  )

  browserTest(
    'every page works at 360 pixels in the dark, without scrolling sideways',
    scene.visit(
      async (visit) => {
        const { page, open, examine } = visit
        await scene.signUp(visit)
        const id = await submitted(page, scene, { name: 'narrow' })
        for (const path of ['/jobs', `/jobs/${id}`, `/jobs/${id}?tab=source`, '/backends']) {
          await open(path)
          await page.getByRole('heading', { level: 1 }).waitFor()
          await examine()
          expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
        }
      },
      { viewport: { width: 360, height: 740 }, colorScheme: 'dark' }
    )
  )
}
