// What runs in the browser of a reader: comparisons with jobs, parts of the console that cannot be loaded, and attacks on it.
import { describe, expect } from '@jest/globals'
import type { Page } from 'playwright-core'
import { browserTest } from '../support/browser/browser-test.js'
import { eventually } from '../support/eventually.js'
import { bellQasm3 } from '../support/jobs/builders.js'
import { sceneOfFile, submitted } from './scene.js'
import { header, lengthy, run, write, written } from './support/playground-page.js'

const scene = sceneOfFile()
async function completedBell(page: Page, name: string): Promise<string> {
  const id = await submitted(page, scene, { name, inline_code: bellQasm3(), params: { shots: 4_000, seed: 3 } })
  await eventually(
    async () =>
      (
        (await (await page.request.get(`${scene.platform.url()}/api/jobs/${id}?result=omit`)).json()) as {
          status: string
        }
      ).status === 'completed',
    { timeoutMs: 90_000, everyMs: 1_000 }
  )
  return id
}

describe('comparisons', () => {
  browserTest(
    'a run in the browser is compared with a job that is chosen from the list, and is gone after a reload',
    scene.visit(async (visit) => {
      const { page, open, examine } = visit
      await scene.signUp(visit)
      await completedBell(page, 'Bell of the server')
      await open('/run')
      await page.getByLabel('Shots').fill('4000')
      // A seed, since one comparison in a hundred finds a difference by design.
      await page.getByLabel('Seed (optional)').fill('5')
      await run(page).click()
      await page.getByRole('link', { name: 'Compare with a job' }).click()
      await page.getByRole('heading', { level: 1, name: 'Compare a run in this browser with a job' }).waitFor()
      await page.getByText(/^The first is statevector-js .* in this browser, seed \d+/).waitFor()
      await examine()
      await page.getByRole('link', { name: 'Bell of the server' }).click()
      const verdict = page.getByRole('region', { name: 'Verdict' })
      await verdict.getByText('consistent', { exact: true }).waitFor()
      await verdict.getByText(/has not seen the run in the browser, and cannot vouch for its counts/).waitFor()
      await page.getByRole('cell', { name: 'browser_sampled' }).waitFor()
      await page.getByText(/This browser, 4,000 shots/).waitFor()
      await eventually(() => page.workers().length === 0)
      await examine()
      await page.reload()
      await page.getByText('The run in this browser is gone').waitFor()
    })
  )

  browserTest(
    'the page of an OpenQASM job runs its program in the browser and compares both with one press',
    scene.visit(async (visit) => {
      const { page, open } = visit
      await scene.signUp(visit)
      const id = await completedBell(page, 'Bell of the server')
      const compared = async () => {
        await open(`/jobs/${id}`)
        await page.getByRole('button', { name: 'Run in this browser and compare' }).click()
        const verdict = page.getByRole('region', { name: 'Verdict' }).getByText(/^(consistent|different)$/)
        return verdict.textContent()
      }
      // The browser draws a seed, and one comparison in a hundred finds a difference by design.
      const verdicts = [await compared()]
      while (verdicts.length < 4 && !verdicts.includes('consistent')) verdicts.push(await compared())
      expect(verdicts).toContain('consistent')
      expect(new URL(page.url()).search).toBe(`?a=browser&b=${id}`)
      await page.goBack()
      await page.getByRole('heading', { level: 1, name: 'Bell of the server' }).waitFor()
    })
  )

  browserTest(
    'a job whose program this browser does not take says why after the press, and one in Python has no such button',
    scene.visit(async (visit) => {
      const { page, open } = visit
      await scene.signUp(visit)
      const wide = `${header}qubit[21] q;\nbit c;\nh q[0];\nc = measure q[0];\n`
      const id = await submitted(page, scene, { name: 'wide', inline_code: wide })
      await open(`/jobs/${id}`)
      await page.getByRole('button', { name: 'Run in this browser and compare' }).click({ timeout: 90_000 })
      await page.getByRole('alert').getByText('this page simulates up to 20').waitFor()
      const python = `from qiskit import QuantumCircuit\nqc = QuantumCircuit(1, 1)\nqc.h(0)\nqc.measure(0, 0)\n`
      await open(`/jobs/${await submitted(page, scene, { inline_code: python, framework: 'qiskit' })}`)
      await page.getByRole('link', { name: 'Compare with another job' }).waitFor({ timeout: 90_000 })
      expect(await page.getByRole('button', { name: 'Run in this browser and compare' }).count()).toBe(0)
    })
  )
})

describe('parts of the console that cannot be loaded', () => {
  const typedText = `${header}// typed before\nqubit[2] q;\nh q;\n`

  browserTest(
    'while the service is away the page says so in its own words, continues when it is back, and what was typed is there',
    scene.visit(async (visit) => {
      const { page, open } = visit
      await scene.signUp(visit)
      await open('/run')
      await write(page, typedText)
      await page.getByText('2 gates in').waitFor()
      const all = /\/(api|healthz|assets)/
      await page.route(all, (route) => route.abort('connectionrefused'))
      await page.getByRole('link', { name: 'Backends', exact: true }).click()
      await page.getByText('The service cannot be reached. The page continues as soon as it is back.').waitFor()
      expect(await page.getByText(/preload|dynamically imported/i).count()).toBe(0)
      await page.unroute(all)
      await page.getByRole('heading', { level: 1, name: 'Backends' }).waitFor()
      await page.getByRole('link', { name: 'Playground', exact: true }).click()
      await eventually(async () => (await written(page)).includes('typed before'))
    })
  )

  browserTest(
    'a file that a newer build no longer has reloads the page once, never twice, and what was typed is there',
    scene.visit(async (visit) => {
      const { page, open } = visit
      await scene.signUp(visit)
      await open('/run')
      await write(page, typedText)
      let loads = 0
      page.on('load', () => loads++)
      const gone = /\/assets\/backends-page/
      await page.route(gone, (route) => route.fulfill({ status: 404, body: 'gone' }))
      await page.getByRole('link', { name: 'Backends', exact: true }).click()
      await page.getByText('A part of this page cannot be loaded, although the service can be reached.').waitFor()
      expect(loads).toBe(1)
      // React reports what an error boundary shows.
      const reported = visit.faults.filter((fault) => fault.includes('A part of this page cannot be loaded'))
      expect(visit.faults).toEqual(reported)
      visit.faults.splice(0)
      await page.unroute(gone)
      await page.getByRole('button', { name: 'Load the page again' }).click()
      await page.getByRole('heading', { level: 1, name: 'Backends' }).waitFor()
      await page.getByRole('link', { name: 'Playground', exact: true }).click()
      await eventually(async () => (await written(page)).includes('typed before'))
    })
  )

  browserTest(
    'a simulator that cannot be loaded while the service is away says so, and runs when it is back',
    scene.visit(async ({ page, open }) => {
      await open('/run')
      await page.getByText('2 gates in').or(page.getByText('gates in')).first().waitFor()
      const all = /\/(api|healthz|assets)/
      await page.route(all, (route) => route.abort('connectionrefused'))
      await page.context().route(/\/assets\/workers/, (route) => route.abort('connectionrefused'))
      await run(page).click()
      await page.getByRole('alert').getByText('try again when it is back').waitFor()
      await page.unroute(all)
      await page.context().unroute(/\/assets\/workers/)
      await page.getByText('The page continues as soon as it is back').waitFor({ state: 'detached' })
      await run(page).click()
      await page.getByText(/^Ran on statevector-js/).waitFor()
    })
  )
})

describe('the playground under attack', () => {
  browserTest(
    'a reload keeps what was typed after a link was opened or made, and signing out keeps nothing',
    scene.visit(async (visit) => {
      const { page, open } = visit
      await scene.signUp(visit)
      const shared = { program: `${header}qubit q;\nh q;\n`, shots: '9', seed: '' }
      await open(`/run#run.${Buffer.from(JSON.stringify(shared)).toString('base64url')}`)
      await page.getByText('1 gate in').waitFor()
      await write(page, `${shared.program}// typed later\nx q;\n`)
      await page.getByText('2 gates in').waitFor()
      await page.reload()
      await page.getByText('2 gates in').waitFor()
      expect(await written(page)).toContain('typed later')
      await page.getByRole('button', { name: 'Make a link' }).click()
      await page.getByLabel('Shots').fill('11')
      await page.reload()
      await page.getByText('2 gates in').waitFor()
      expect(await page.getByLabel('Shots').inputValue()).toBe('11')
      await page.getByRole('button', { name: 'Account' }).click()
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
      await page.reload()
      await page.getByRole('link', { name: 'Playground' }).click()
      await page.getByText('2 gates in 4 columns').waitFor()
      expect(await written(page)).not.toContain('typed later')
    })
  )

  browserTest(
    'a fault of shots or seed stands once on the page, at its field, which gets the focus',
    scene.visit(async ({ page, open, examine }) => {
      await open('/run')
      for (const [label, value, words] of [
        ['Shots', '0', /must be between 1 and/],
        ['Seed (optional)', '-1', /must be a whole number from 0/]
      ] as const) {
        await page.getByLabel(label).fill(value)
        await run(page).click()
        await page.getByText(words).waitFor()
        expect(await page.getByText(words).count()).toBe(1)
        // The field gets the focus after its fault is drawn.
        const focused = () => page.evaluate<string | undefined>('document.activeElement.labels?.[0]?.textContent')
        await eventually(async () => (await focused()) === label)
        await examine()
        await page.getByLabel(label).fill('1')
      }
      await run(page).click()
      await page.getByText(/^Ran on statevector-js .* seed 1/).waitFor()
    })
  )

  browserTest(
    'a visitor gets from the sign-in to the playground by a link',
    scene.visit(async ({ page, open, examine }) => {
      await open('/')
      await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
      await examine()
      await page.getByRole('link', { name: 'Playground' }).click()
      await page.getByRole('heading', { level: 1, name: 'Playground' }).waitFor()
      await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Playground' }).waitFor()
      await examine()
    })
  )

  browserTest(
    'links with a fragment of a megabyte, of broken text or of another shape leave the page as it is',
    scene.visit(async ({ page, open }) => {
      const base64 = (text: string) => Buffer.from(text).toString('base64url')
      for (const fragment of [
        'A'.repeat(1_000_000),
        '%%%',
        base64('{"program":1,"shots":"1","seed":""}'),
        base64('[]'),
        base64('null'),
        base64('{"__proto__":{"program":"x"},"shots":"1","seed":""}')
      ]) {
        await page.goto('about:blank')
        await open(`/run#run.${fragment}`)
        await run(page).waitFor()
        expect(await page.getByLabel('Shots').inputValue()).toBe('1000')
      }
    })
  )

  browserTest(
    'a program in a link that would take hours or gigabytes is refused, and the page still answers',
    scene.visit(async ({ page, open }) => {
      const link = (program: string, shots = '100000') =>
        `/run#run.${Buffer.from(JSON.stringify({ program, shots, seed: '' })).toString('base64url')}`
      const measuring = `${header}qubit[20] q; bit[200] c;\nfor int i in [0:199] { h q; c[i] = measure q[0]; }\n`
      const unrolled = `${header}qubit[20] q;\nfor int i in [0:9999] { for int j in [0:9999] { h q; } }\n`
      const nested = `${header}qubit q;\nx ${'('.repeat(9_000)}q;\n`
      for (const [text, words] of [
        [measuring, /would (take|need) up to/],
        [unrolled, /Line \d+, column/],
        [nested, /Line \d+, column/]
      ] as const) {
        await page.goto('about:blank')
        await open(link(text))
        await page.getByText(words).first().waitFor()
        await page.getByLabel('Shots').fill('12')
        expect(await page.getByLabel('Shots').inputValue()).toBe('12')
      }
    })
  )

  browserTest(
    'many presses of Run at once leave one run and one worker, and cancelling while its file loads leaves none',
    scene.visit(async ({ page, open }) => {
      await open('/run')
      await write(page, lengthy)
      await page.getByText('20 qubits: the run takes').waitFor()
      await page.evaluate(`for (let press = 0; press < 12; press++)
        document.querySelector('[aria-label=Program]').dispatchEvent(
          new KeyboardEvent('keydown', { key: 'Enter', ctrlKey: true, bubbles: true, cancelable: true }))`)
      await page.getByRole('button', { name: 'Cancel' }).waitFor()
      await eventually(() => page.workers().length === 1)
      await page.getByRole('button', { name: 'Cancel' }).click()
      await eventually(() => page.workers().length === 0)
      let release = () => {}
      const held = new Promise<void>((resolve) => {
        release = resolve
      })
      await page.context().route(/\/assets\/workers/, async (route) => {
        await held
        await route.fallback().catch(() => {})
      })
      await page.getByLabel('Runs on').selectOption('quantum-circuit')
      await write(page, `${header}qubit[2] q;\nh q;\n`)
      await run(page).click()
      await page.getByRole('button', { name: 'Cancel' }).click()
      await page.getByText('The run is cancelled.').waitFor()
      release()
      await eventually(() => page.workers().length === 0)
      expect(await page.getByText(/^Ran on/).count()).toBe(0)
    })
  )

  browserTest(
    'two tabs run at once, each with its own result, and closing one leaves the other',
    scene.visit(async ({ page, open }) => {
      const other = await page.context().newPage()
      await open('/run')
      await other.goto(`${scene.platform.url()}/run`)
      await write(page, lengthy)
      // This warning appears after a moment and moves the button.
      await page.getByText('20 qubits: the run takes').waitFor()
      await other.getByLabel('Seed (optional)').fill('5')
      await run(page).click()
      await eventually(() => page.workers().length === 1)
      await run(other).click()
      await other.getByText(/^Ran on statevector-js .* seed 5/).waitFor()
      await page.close()
      await run(other).click()
      await other.getByText(/^Ran on statevector-js .* seed 5/).waitFor()
      await other.close()
    })
  )
})
