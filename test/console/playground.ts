import { expect } from '@jest/globals'
import { browserTest } from '../support/browser/browser-test.js'
import type { Visit } from '../support/browser/visit.js'
import { eventually } from '../support/eventually.js'
import type { Scene } from './scene.js'
import { header, lengthy, ranOn, run, write, written } from './support/playground-page.js'

const pythonBell = `from qiskit import QuantumCircuit
qc = QuantumCircuit(2, 2)
qc.h(0)
qc.cx(0, 1)
qc.measure([0, 1], [0, 1])
print("printed <b>by</b> the program")
`
/** What is typed by someone who wants to break the page. */
const hostile = '<img src=x onerror="document.title=1"><script src=//evil.example/x.js></script>"\'`javascript:alert(1)‮'

export function playgroundTests(scene: Scene): void {
  browserTest(
    'a Bell program runs in each simulator of the browser, in a worker with a policy of its own, the team gets a report, and its jobs are offered for a comparison',
    scene.visit(async (visit) => {
      const { page, open, examine } = visit
      const policies = new Map<string, string>()
      const reports: unknown[] = []
      page.context().on('response', (response) => {
        const { pathname } = new URL(response.url())
        const file = /^\/assets\/workers\/([a-z-]+)\./.exec(pathname)?.[1]
        if (file) policies.set(file, response.headers()['content-security-policy'] ?? 'none')
        if (pathname === '/api/playground/telemetry')
          reports.push([response.status(), (response.request().postDataJSON() as { simulator: string }).simulator])
      })
      await withTeam(visit, scene)
      await open('/run')
      await page.getByRole('heading', { level: 1, name: 'Playground' }).waitFor()
      for (const simulator of ['statevector-js', 'quantum-circuit', 'qulacs-wasm']) {
        await page.getByLabel('Runs on').selectOption(simulator)
        await page.getByLabel('Seed (optional)').fill('7')
        await run(page).click()
        await ranOn(page, new RegExp(`^Ran on ${simulator} .* in this browser, seed 7`))
        await page.getByRole('img', { name: 'Counts' }).waitFor()
        await eventually(() => page.workers().length === 0)
      }
      await eventually(() => reports.length === 3)
      // Answers of two reports can come in any order.
      const each = ['statevector-js', 'quantum-circuit', 'qulacs-wasm'].map((name) => [201, name])
      expect(reports).toEqual(expect.arrayContaining(each))
      const closed = "default-src 'none'; script-src 'self'"
      expect(Object.fromEntries(policies)).toEqual({
        own: closed,
        'quantum-circuit': closed,
        qulacs: `${closed} 'unsafe-eval' 'wasm-unsafe-eval'`
      })
      await page.getByLabel('Runs on').selectOption('statevector-js')
      await run(page).click()
      await page.getByText('Amplitudes before the last measurements (2)').click()
      await page.getByRole('row', { name: '|11⟩ 0.707107 0.5' }).waitFor()
      await examine()
      await page.getByRole('link', { name: 'Compare with a job' }).click()
      await page.getByText('The team has no completed job yet').waitFor()
    })
  )

  browserTest(
    'a visitor without an account runs a program, and is sent to the sign-in for the rest',
    scene.visit(async ({ page, open, examine }) => {
      await open('/run')
      await run(page).click()
      await ranOn(page, /^Ran on statevector-js/)
      await write(page, pythonBell)
      await page.getByRole('button', { name: 'Run on the server' }).and(page.locator('[disabled]')).waitFor()
      await examine()
      await page.getByRole('link', { name: 'Sign in to run on the server' }).click()
      await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
    })
  )

  browserTest(
    'a fault names its line and column while its author types, and a gate lights up with its line',
    scene.visit(async ({ page, open, examine }) => {
      await open('/run')
      await page
        .getByRole('button', { name: 'h q[0]' })
        .or(page.getByText('Qubit 0 is the topmost wire'))
        .first()
        .waitFor()
      await write(page, `${header}qubit[2] q;\nh q[0];\n  nosuch q[1];\n`)
      const fault = page.getByRole('button', { name: 'Line 5, column 3' })
      await fault.waitFor()
      await page
        .getByText(/nosuch/)
        .first()
        .waitFor()
      await examine()
      await fault.click()
      await page.keyboard.type('x q[1];\n// ')
      await fault.waitFor({ state: 'detached' })
      await page.getByText('2 gates in').waitFor()
    })
  )

  browserTest(
    'a Python program runs on the server with what it prints, and is converted and run here',
    scene.visit(async (visit) => {
      const { page, open, examine } = visit
      await scene.signUp(visit)
      await open('/run')
      await write(page, pythonBell)
      await page.getByRole('button', { name: 'Run on the server' }).click()
      await ranOn(page, /^Ran on .* on the server/)
      await page.getByRole('region', { name: 'Output' }).getByText('printed <b>by</b> the program').waitFor()
      await examine()
      await page.getByRole('button', { name: 'Convert and run here' }).click()
      await ranOn(page, /^Ran on statevector-js/)
      await page.getByText('The circuit as OpenQASM').click()
      await page.getByRole('region', { name: 'The circuit as OpenQASM' }).getByText('cx').waitFor()
    })
  )

  browserTest(
    'OpenQASM runs on a simulator of the server, whose refusal stands at its field, and becomes a job with its shots and its seed',
    scene.visit(async (visit) => {
      const { page, open } = visit
      await scene.signUp(visit)
      await open('/run')
      await page.getByLabel('Seed (optional)').fill('9')
      await page.getByLabel('Runs on').selectOption('local')
      await page.getByLabel('Shots').fill('64')
      await run(page).click()
      await ranOn(page, 'Ran on local on the server')
      await page.getByLabel('Shots').fill('0')
      await run(page).click()
      await page.getByText(/must be/).waitFor()
      await page.getByLabel('Shots').fill('321')
      await page.getByRole('button', { name: 'Submit as a job' }).click()
      const dialog = page.getByRole('dialog', { name: 'Submit a job' })
      expect(await dialog.getByLabel('Shots').inputValue()).toBe('321')
      expect(await dialog.getByLabel('Seed (optional)').inputValue()).toBe('9')
      expect(await dialog.getByLabel('Program').inputValue()).toContain('h q[0]')
    })
  )

  browserTest(
    '18 qubits are warned of with time and memory, and 21 are refused',
    scene.visit(async ({ page, open }) => {
      await open('/run')
      await write(page, `${header}qubit[18] q;\nh q;\n`)
      await page.getByText(/^18 qubits: the run takes up to .* MiB of memory here\.$/).waitFor()
      await run(page).click()
      await ranOn(page, /^Ran on statevector-js/)
      await write(page, `${header}qubit[21] q;\nh q;\n`)
      await page.getByText('The circuit needs 21 qubits, and this page simulates up to 20.').waitFor()
      expect(await run(page).isDisabled()).toBe(true)
    })
  )

  browserTest(
    'a run shows how far it is, and leaves no worker when it is cancelled, its page is left or its tab is closed',
    scene.visit(async ({ page, open }) => {
      await open('/run')
      await write(page, lengthy)
      // This warning appears after a moment and moves the button.
      await page.getByText('20 qubits: the run takes').waitFor()
      await run(page).click()
      await page.getByRole('progressbar', { name: 'Progress of the run' }).waitFor()
      await eventually(() => page.workers().length === 1)
      await page.getByRole('button', { name: 'Cancel' }).click()
      await page.getByText('The run is cancelled.').waitFor()
      await eventually(() => page.workers().length === 0)
      await run(page).click()
      await eventually(() => page.workers().length === 1)
      await page.getByRole('link', { name: 'Create an account' }).click()
      await eventually(() => page.workers().length === 0)
      await page.goBack()
      // What was typed is still there.
      await page.getByText('20 qubits: the run takes').waitFor()
      await run(page).click()
      await eventually(() => page.workers().length === 1)
      const ended = page.workers()[0]!.waitForEvent('close')
      await page.close()
      await ended
    })
  )

  browserTest(
    'a link brings program, shots and seed to another browser, and no request holds them',
    scene.visit(async ({ page, open }) => {
      await open('/run')
      const text = `${header}// Grüße ⟩\nqubit[3] q;\nh q;\n`
      await write(page, text)
      await page.getByLabel('Shots').fill('77')
      await page.getByLabel('Seed (optional)').fill('5')
      await page.getByRole('button', { name: 'Make a link' }).click()
      const link = await page.getByLabel('Link to this program').inputValue()
      await page.goto('about:blank')
      const asked: string[] = []
      page.on('request', (request) => asked.push(request.url()))
      await page.goto(link)
      await page.getByText('3 gates in').waitFor()
      expect(await page.getByLabel('Shots').inputValue()).toBe('77')
      expect(await page.getByLabel('Seed (optional)').inputValue()).toBe('5')
      expect(await written(page)).toContain('Grüße ⟩')
      await run(page).click()
      await ranOn(page, /seed 5/)
      expect(asked.filter((url) => url.includes('run.'))).toEqual([])
    })
  )

  browserTest(
    'a program is written, run and left by keyboard alone',
    scene.visit(async ({ page, open }) => {
      await open('/run')
      await page.getByText('Qubit 0 is the topmost wire').waitFor()
      const { keyboard } = page
      const focused = () =>
        page.evaluate<string>('document.activeElement.ariaLabel || document.activeElement.textContent')
      const tabTo = async (name: string) => {
        for (let presses = 0; presses < 40; presses++) {
          await keyboard.press('Tab')
          if ((await focused()) === name) return
        }
        throw new Error(`Tab does not reach ${name}`)
      }
      await tabTo('Program')
      await keyboard.press('Control+a')
      await keyboard.type('include "stdgates.inc"; qubit q; h q;')
      await keyboard.press('Control+Enter')
      await ranOn(page, /^Ran on statevector-js/)
      await tabTo('Make a link')
      await keyboard.press('Enter')
      await page.getByLabel('Link to this program').waitFor()
    })
  )

  browserTest(
    'programs of any content are shown as text, on a page of 360 pixels that does not scroll sideways',
    scene.visit(
      async ({ page, open, examine }) => {
        await open('/run')
        const long = 'a'.repeat(300)
        await write(page, `${header}// ${hostile}\nqubit[2] ${long};\nh ${long}[0];\n`)
        await page.getByText('1 gate in').waitFor()
        await run(page).click()
        await ranOn(page, /^Ran on statevector-js/)
        await examine()
        expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
        await write(page, `${header}include "${hostile.replaceAll('"', '')}";\n`)
        await page.getByRole('button', { name: /^Line 3, column/ }).waitFor()
        await write(page, `${hostile}\n`)
        await page.getByRole('button', { name: /^Line 1, column/ }).waitFor()
        await examine()
        expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
        expect(await page.locator('main img, main script').count()).toBe(0)
        expect(await page.title()).toContain('Playground')
      },
      { viewport: { width: 360, height: 740 }, colorScheme: 'dark' }
    )
  )
}

/** A person with a team, which the reports of their runs belong to. */
async function withTeam(visit: Visit, scene: Scene): Promise<void> {
  await scene.signUp(visit)
  const made = await visit.page.request.post(`${scene.platform.url()}/api/teams`, { data: { name: 'Reporters' } })
  if (!made.ok()) throw new Error(await made.text())
}
