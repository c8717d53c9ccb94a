// `npm test`: types, lint, the executor's checks, pytest, jest; the sum of the tests alone on the last line.
//
//   npm test                      everything
//   npm test -- api budgets       only the jest files whose path matches a pattern (types and lint all the same)
//   npm test -- apps/executor     only pytest (its short lane; apps/executor/scripts/test --all adds the long one)
//   npm run check                 only types, lint and the executor's checks
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { elapsed, say } from './bootstrap/progress.mjs'
import { bootstrap, needs, root } from './bootstrap.mjs'
import { build } from './build.mjs'

const checkLimitMs = 5 * 60_000
const testLimitMs = 40 * 60_000

const patterns = process.argv.slice(2).filter((argument) => argument !== '--check')
const checksOnly = process.argv.includes('--check')
const wantsPytest = patterns.length === 0 || patterns.some((pattern) => pattern.startsWith('apps/executor'))
const jestPatterns = patterns.filter((pattern) => !pattern.startsWith('apps/executor'))
const wantsJest = patterns.length === 0 || jestPatterns.length > 0

const out = join(root, '.test')
const bin = (name) => join(root, 'node_modules/.bin', name)
const executor = join(root, 'apps/executor')

const checks = [
  { name: 'tsc', command: bin('tsc'), args: ['-p', '.'] },
  { name: 'biome', command: bin('biome'), args: ['check', '--error-on-warnings', '.'] },
  ...(wantsPytest
    ? [{ name: 'executor checks', command: join(executor, 'scripts/check'), args: [], cwd: executor }]
    : [])
]

const pytest = {
  name: 'pytest',
  command: join(executor, 'scripts/test'),
  args: [`--junitxml=${join(out, 'pytest.xml')}`],
  cwd: executor,
  totals: pytestTotals
}

const jest = {
  name: 'jest',
  command: process.execPath,
  args: ['node_modules/jest/bin/jest.js', '--json', `--outputFile=${join(out, 'jest.json')}`, ...jestPatterns],
  env: {
    NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --experimental-vm-modules --disable-warning=ExperimentalWarning`,
    PLAIN_REPORTER: 'off'
  },
  totals: jestTotals
}

// npm passes a polite kill on to this process alone. SIGINT makes pytest and jest end what they have started.
const running = new Set()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    for (const child of running) child.kill('SIGINT')
    process.exit(1)
  })
}

try {
  await bootstrap(needs.tests)
  await build()
} catch (error) {
  say(error.message)
  process.exit(1)
}

mkdirSync(out, { recursive: true })
for (const file of ['pytest.xml', 'jest.json']) rmSync(join(out, file), { force: true })

const summary = []
// The checks are short and use one core each; the test runs fill the machine and come one after the other.
await Promise.all(checks.map(runCheck))
if (!checksOnly && wantsPytest) await runTests(pytest)
if (!checksOnly && wantsJest) await runTests(jest)
report()

async function runCheck(check) {
  const began = Date.now()
  const { ok, output } = await run(check, checkLimitMs, true)
  if (!ok) process.stdout.write(`\n--- ${check.name} ---\n${output}\n`)
  say(`${ok ? 'ok  ' : 'FAIL'}  ${check.name} (${elapsed(began)})`)
  // A check that fails is counted as one failed test: a last line without a failure has to mean that all is well.
  summary.push({ name: check.name, ok, time: elapsed(began), passed: 0, failed: ok ? 0 : 1, skipped: 0 })
}

async function runTests(runner) {
  const began = Date.now()
  say(`\n--- ${runner.name} ---`)
  const { ok } = await run(runner, testLimitMs, false)
  const totals = runner.totals()
  // A runner that broke off before or after its tests has failed, whatever it counted.
  if (!ok && totals.failed === 0) totals.failed = 1
  summary.push({ name: runner.name, ok: ok && totals.failed === 0, time: elapsed(began), ...totals })
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

function pytestTotals() {
  const suite = /<testsuite [^>]*>/.exec(read('pytest.xml'))?.[0] ?? ''
  const count = (name) => Number(new RegExp(` ${name}="(\\d+)"`).exec(suite)?.[1] ?? 0)
  const failed = count('failures') + count('errors')
  return { passed: Math.max(0, count('tests') - failed - count('skipped')), failed, skipped: count('skipped') }
}

function jestTotals() {
  const text = read('jest.json')
  if (!text) return { passed: 0, failed: 0, skipped: 0 }
  const results = JSON.parse(text)
  return {
    passed: results.numPassedTests,
    failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
    skipped: results.numPendingTests + results.numTodoTests
  }
}

function read(name) {
  try {
    return readFileSync(join(out, name), 'utf8')
  } catch {
    return ''
  }
}

function report() {
  const sum = (key) => summary.reduce((total, part) => total + part[key], 0)
  process.stdout.write('\n')
  for (const { name, ok, time, passed, failed, skipped } of summary) {
    const counted =
      passed + skipped > 0 || failed > 1 ? `  ${passed} passed, ${failed} failed, ${skipped} skipped,` : ' '
    process.stdout.write(`${ok ? 'ok  ' : 'FAIL'}  ${name}:${counted} ${time}\n`)
  }
  process.stdout.write(`${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped\n`)
  process.exitCode = summary.every(({ ok }) => ok) ? 0 : 1
}
