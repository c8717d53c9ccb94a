// `npm test`: types, lint, the checks of the Python code, pytest, jest; the sum of the tests alone on the last line.
//
//   npm test                      the short lane: what a change needs
//   npm run test:all              everything (--all): both lanes, more random cases, and the programs of `longPrograms`
//   npm test -- api budgets       the jest files of both lanes whose path matches a pattern (types and lint all the same)
//   npm test -- --shard=1/3       jest alone, with this option
//   npm test -- apps/executor     only pytest, both lanes
//   npm run check                 only types, lint and the checks of the Python code (--check)
//
// Long are the files named *.long.test.ts, the rows that test/support/lane.ts holds back, and pytest's tests marked `long`.
import { spawn } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { elapsed, say } from './bootstrap/progress.mjs'
import { bootstrap, needs, root } from './bootstrap.mjs'
import { build } from './build.mjs'
import { jestFile, jestResults, pytestFile, pytestResults, resultsFolder } from './test-results.mjs'

// For what hangs: a busy machine takes several times as long as a quiet one.
const checkLimitMs = 20 * 60_000
const testLimitMs = 180 * 60_000
const longProgramLimitMs = 120 * 60_000
const slowestShown = 20

const flags = ['--check', '--all']
const checksOnly = process.argv.includes('--check')
const forRunners = process.argv.slice(2).filter((argument) => !flags.includes(argument))
const patterns = forRunners.filter((argument) => !argument.startsWith('-'))
const everything = process.argv.includes('--all')
const short = !everything && patterns.length === 0
const isOfExecutor = (pattern) => pattern.startsWith('apps/executor')
const forJest = forRunners.filter((argument) => !isOfExecutor(argument))
const wantsPytest = forRunners.length === 0 || patterns.some(isOfExecutor)
const wantsJest = forRunners.length === 0 || forJest.length > 0
const isWanted = (tests) =>
  everything || patterns.some((pattern) => tests.some((path) => new RegExp(pattern, 'i').test(path)))
const wantsHelm = isWanted(['test/deploy/helm.long.test.ts', 'test/deploy/helm-probes.long.test.ts'])
const wantsContentStore = isWanted([
  'test/services/content-store/s3-store.long.test.ts',
  'test/services/audit/checkpoint-store.long.test.ts',
  'test/e2e/servers/content-store.long.test.ts'
])

const bin = (name) => join(root, 'node_modules/.bin', name)
const executor = join(root, 'apps/executor')

const checks = [
  { name: 'tsc', command: bin('tsc'), args: ['-p', '.'] },
  { name: 'tsc of the console', command: bin('tsc'), args: ['-p', 'apps/console'] },
  { name: 'biome', command: bin('biome'), args: ['check', '--error-on-warnings', '.'] },
  ...(wantsPytest
    ? [
        { name: 'executor checks', command: join(executor, 'scripts/check'), args: [], cwd: executor },
        { name: 'checks of the Python package', command: join(root, 'clients/python/scripts/check'), args: [] }
      ]
    : [])
]

const pytest = {
  name: 'pytest',
  command: join(executor, 'scripts/test'),
  args: [...(short ? [] : ['--all']), `--junitxml=${pytestFile}`],
  cwd: executor,
  results: pytestResults
}

const jest = {
  name: 'jest',
  command: process.execPath,
  args: ['node_modules/jest/bin/jest.js', '--json', `--outputFile=${jestFile}`, ...forJest],
  env: {
    TEST_LANE: short ? 'short' : 'all',
    PLAIN_REPORTER: 'off',
    ...(everything && { SCHEMATHESIS_EXAMPLES: '100', MONEY_PROPERTY_RUNS: '40' })
  },
  results: jestResults
}

const longPrograms = [
  { name: 'conformance of every framework', command: join(executor, 'scripts/long-conformance'), args: [] },
  { name: 'attacks at every level of isolation', command: join(executor, 'scripts/attack-every-level'), args: [] },
  { name: 'many children of every framework', command: join(executor, 'scripts/fork-test'), args: [] },
  { name: 'error rates of verification', command: process.execPath, args: ['tools/statistics.mjs'] },
  { name: 'chaos', command: process.execPath, args: ['tools/trials/chaos.mjs', '--minutes', '15', '--content-store'] },
  { name: 'a cluster', command: process.execPath, args: ['tools/trials/cluster.mjs'] },
  { name: 'a hostile team', command: process.execPath, args: ['tools/trials/hostile.mjs', '--minutes', '10'] }
]

// npm passes a polite kill on to this process alone. SIGINT makes pytest and jest end what they have started.
const running = new Set()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    for (const child of running) child.kill('SIGINT')
    process.exit(1)
  })
}

try {
  await bootstrap([...needs.tests, ...(wantsHelm ? needs.chart : []), ...(wantsContentStore ? needs.contentStore : [])])
  await build()
} catch (error) {
  say(error.message)
  process.exit(1)
}

mkdirSync(resultsFolder, { recursive: true })
for (const file of [pytestFile, jestFile]) rmSync(file, { force: true })

const summary = []
// The checks are short and use one core each; the test runs fill the machine and come one after the other.
await Promise.all(checks.map((check) => runCheck(check, checkLimitMs)))
if (!checksOnly && wantsPytest) await runTests(pytest)
if (!checksOnly && wantsJest) await runTests(jest)
if (everything) for (const program of longPrograms) await runCheck(program, longProgramLimitMs)
report()

async function runCheck(check, limitMs) {
  const began = Date.now()
  const { ok, output } = await run(check, limitMs, true)
  if (!ok) process.stdout.write(`\n--- ${check.name} ---\n${output}\n`)
  say(`${ok ? 'ok  ' : 'FAIL'}  ${check.name} (${elapsed(began)})`)
  // A check that fails is counted as one failed test: a last line without a failure has to mean that all is well.
  summary.push({ name: check.name, ok, time: elapsed(began), passed: 0, failed: ok ? 0 : 1, skipped: 0 })
}

async function runTests(runner) {
  const began = Date.now()
  say(`\n--- ${runner.name} ---`)
  const { ok } = await run(runner, testLimitMs, false)
  const results = runner.results()
  // A runner that broke off before or after its tests has failed, whatever it counted.
  if (!ok && results.failed === 0) results.failed = 1
  summary.push({ name: runner.name, ok: ok && results.failed === 0, time: elapsed(began), ...results })
}

function run({ command, args, cwd = root, env = {} }, limitMs, capture) {
  return new Promise((resolve) => {
    const output = []
    const stdio = capture ? ['ignore', 'pipe', 'pipe'] : ['ignore', 'inherit', 'inherit']
    const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio })
    running.add(child)
    const timer = setTimeout(() => {
      output.push(`stopped after ${limitMs / 60_000} minutes\n`)
      child.kill('SIGKILL')
    }, limitMs)
    child.stdout?.on('data', (chunk) => output.push(chunk))
    child.stderr?.on('data', (chunk) => output.push(chunk))
    const end = (ok) => {
      clearTimeout(timer)
      running.delete(child)
      resolve({ ok, output: output.join('') })
    }
    child.on('error', (error) => {
      output.push(`${command} cannot be run: ${error.message}\n`)
      end(false)
    })
    child.on('close', (code) => end(code === 0))
  })
}

function report() {
  const sum = (key) => summary.reduce((total, part) => total + part[key], 0)
  const slowest = summary
    .flatMap(({ seconds = new Map() }) => [...seconds])
    .sort(([, one], [, other]) => other - one)
    .slice(0, slowestShown)
  if (slowest.length > 1) process.stdout.write('\nslowest files, in seconds\n')
  for (const [file, seconds] of slowest) process.stdout.write(`${seconds.toFixed(1).padStart(7)}  ${file}\n`)
  process.stdout.write('\n')
  for (const { name, ok, time, passed, failed, skipped } of summary) {
    const counted =
      passed + skipped > 0 || failed > 1 ? `  ${passed} passed, ${failed} failed, ${skipped} skipped,` : ' '
    process.stdout.write(`${ok ? 'ok  ' : 'FAIL'}  ${name}:${counted} ${time}\n`)
  }
  process.stdout.write(`${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped\n`)
  process.exitCode = summary.every(({ ok }) => ok) ? 0 : 1
}
