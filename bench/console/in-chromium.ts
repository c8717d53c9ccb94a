// The playground in Chromium: how soon a new visitor can use it, on a slow processor and line, and the simulators in their
// workers. Processor time of the page's process is compared, since other load on the machine does not count in it.
import type { Browser, CDPSession, Page } from 'playwright-core'
import { simulatorNames } from '../../apps/console/simulators/simulation.js'
import type { BenchStack } from '../support/bench-stack.js'
import { denseCircuit } from '../support/dense-circuit.js'
import { median, printTable } from '../support/table.js'

const DEPTH = 10
const ROUNDS = 3
const WIDTHS = [8, 12, 16]
const WIDEST = 20
const SLOWER = 4
const BYTES_PER_SECOND = 10_000_000 / 8
const LATENCY_MS = 40
const GOALS = { interactiveMs: 2_000, widestMs: 3_000 }

export async function benchConsoleInChromium(stack: BenchStack): Promise<void> {
  const executablePath = process.env.CHROME_PATH
  if (!executablePath) return console.log('There is no Chromium here: set CHROME_PATH.\n')
  const platform = await stack.platform('bench_console', stack.executors['no-op'])
  const { chromium } = await import('playwright-core')
  const browser = await chromium.launch({ executablePath, args: ['--disable-dev-shm-usage'] })
  try {
    await benchFirstVisit(browser, platform.base)
    await benchSimulators(browser, platform.base)
  } finally {
    await browser.close()
    await platform.close()
  }
}

async function benchFirstVisit(browser: Browser, base: string): Promise<void> {
  const rows: string[][] = []
  const processes = await browser.newBrowserCDPSession()
  for (const [title, isSlow] of [
    ['as this machine is', false],
    [`${SLOWER}x slower processor, 10 Mbit/s`, true]
  ] as const) {
    const found: { wall: number; cpu: number }[] = []
    for (let round = 0; round < ROUNDS; round++) found.push(await firstVisit(browser, processes, base, isSlow))
    const walls = found.map(({ wall }) => wall)
    const fastest = Math.min(...walls)
    const goal = `< ${GOALS.interactiveMs} ms: ${fastest < GOALS.interactiveMs ? 'reached' : 'missed'}`
    const cpu = median(found.map((one) => one.cpu))
    rows.push([title, fastest.toFixed(0), median(walls).toFixed(0), cpu.toFixed(0), isSlow ? goal : ''])
  }
  const head = ['first visit of /run', 'fastest ms', 'median ms', 'processor ms', 'goal']
  printTable('Until the circuit is drawn and Run can be pressed', head, rows)
}

async function firstVisit(
  browser: Browser,
  processes: CDPSession,
  base: string,
  isSlow: boolean
): Promise<{ wall: number; cpu: number }> {
  const context = await browser.newContext()
  try {
    const page = await context.newPage()
    const session = await context.newCDPSession(page)
    if (isSlow) {
      await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWER })
      await session.send('Network.enable')
      const throughput = { downloadThroughput: BYTES_PER_SECOND, uploadThroughput: BYTES_PER_SECOND }
      await session.send('Network.emulateNetworkConditions', { offline: false, latency: LATENCY_MS, ...throughput })
    }
    const before = await renderersMs(processes)
    const began = performance.now()
    await page.goto(`${base}/run`, { waitUntil: 'commit' })
    await page.getByRole('button', { name: 'Run', exact: true }).and(page.locator(':not([disabled])')).waitFor()
    await page.getByText(/gates in/).waitFor()
    return { wall: performance.now() - began, cpu: (await renderersMs(processes)) - before }
  } finally {
    await context.close()
  }
}

interface Took {
  /** By the clock, as the simulator states it. */
  ms: number
  /** Of the page's process: with the start of the worker and the picture of the counts. */
  cpu: number
}

async function benchSimulators(browser: Browser, base: string): Promise<void> {
  const context = await browser.newContext()
  const page = await context.newPage()
  const processes = await browser.newBrowserCDPSession()
  await page.goto(`${base}/run`)
  const take = (simulator: string, qubits: number): Promise<Took> => run(page, processes, simulator, qubits)
  const rows: string[][] = []
  for (const qubits of WIDTHS) {
    const found = new Map<string, Took[]>(simulatorNames.map((name) => [name, []]))
    // In turns; the slowest takes most of a minute at the widest.
    for (let round = 0; round < ROUNDS; round++)
      for (const name of simulatorNames)
        if (name !== 'quantum-circuit' || qubits < 16 || round === 0) found.get(name)!.push(await take(name, qubits))
    const [own, slow, compiled] = simulatorNames.map((name) => Math.min(...found.get(name)!.map(({ ms }) => ms)))
    const cpu = simulatorNames.map((name) => median(found.get(name)!.map((one) => one.cpu)).toFixed(0))
    const fastest = [own, compiled, slow].map((ms) => ms!.toFixed(1))
    rows.push([
      String(qubits),
      ...fastest,
      `${(compiled! / own!).toFixed(1)}x`,
      `${(slow! / own!).toFixed(0)}x`,
      cpu.join(', ')
    ])
  }
  const head = [
    'qubits',
    'own ms',
    'qulacs ms',
    'quantum-circuit ms',
    'qulacs/own',
    'quantum-circuit/own',
    'processor ms'
  ]
  printTable(
    `In Chromium ${browser.version()}: dense, depth ${DEPTH}, a new worker each, fastest of ${ROUNDS}`,
    head,
    rows
  )
  const wide: Took[] = []
  for (let round = 0; round < ROUNDS; round++) wide.push(await take('statevector-js', WIDEST))
  const fastest = Math.min(...wide.map(({ ms }) => ms))
  const goal = `< ${GOALS.widestMs} ms: ${fastest < GOALS.widestMs ? 'reached' : 'missed'}`
  const values = [fastest, median(wide.map(({ ms }) => ms)), median(wide.map(({ cpu }) => cpu))].map((ms) =>
    ms.toFixed(0)
  )
  printTable(
    `The default simulator, ${WIDEST} qubits`,
    ['fastest ms', 'median ms', 'processor ms', 'goal'],
    [[...values, goal]]
  )
  await context.close()
}

async function run(page: Page, processes: CDPSession, simulator: string, qubits: number): Promise<Took> {
  await page.getByLabel('Runs on').selectOption(simulator)
  await page.getByLabel('Program', { exact: true }).fill(denseCircuit(qubits, DEPTH))
  await page.getByText(`${qubits} qubits`).first().waitFor()
  const before = await renderersMs(processes)
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  const outcome = page.getByLabel('Outcome')
  // The outcome of the run before is gone once this one has begun.
  await page
    .getByText('Running…')
    .waitFor({ timeout: 2_000 })
    .catch(() => {})
  await outcome.getByText(`Ran on ${simulator}`).waitFor({ timeout: 300_000 })
  const cpu = (await renderersMs(processes)) - before
  await outcome.getByText('The whole result').click()
  const text = (await page.getByRole('region', { name: 'The whole result' }).textContent()) ?? ''
  return { ms: Number(/"execution_time_ms":\s*([\d.]+)/.exec(text)?.[1]), cpu }
}

async function renderersMs(processes: CDPSession): Promise<number> {
  const { processInfo } = await processes.send('SystemInfo.getProcessInfo')
  return 1_000 * processInfo.filter(({ type }) => type === 'renderer').reduce((sum, { cpuTime }) => sum + cpuTime, 0)
}
