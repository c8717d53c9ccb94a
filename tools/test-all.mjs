// `npm run test:all`: the tests of both lanes with more random cases, then every long form, one after the other, and a
// summary. It takes hours on two cores.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { elapsed, say } from './bootstrap/progress.mjs'
import { root } from './bootstrap.mjs'
import { readTotals } from './test-results.mjs'

const node = (...args) => ({ command: process.execPath, args: args.map(String) })
const script = (name) => ({ command: join(root, 'apps/executor/scripts', name), args: [] })

const parts = [
  {
    name: 'both lanes, with more random requests and money histories',
    ...node('tools/test.mjs', '--all'),
    env: { SCHEMATHESIS_EXAMPLES: '100', MONEY_PROPERTY_RUNS: '40' }
  },
  { name: 'conformance of every framework in full', ...script('long-conformance') },
  { name: 'attacks at every level of isolation', ...script('attack-every-level') },
  { name: 'many children of every framework', ...script('fork-test') },
  { name: 'error rates of verification', ...node('tools/statistics.mjs') },
  { name: 'chaos', ...node('tools/chaos.mjs', '--minutes', 15) }
]

const results = parts.map(({ name, command, args, env }) => {
  say(`\n=== ${name} ===`)
  const began = Date.now()
  const { status, signal } = spawnSync(command, args, { cwd: root, env: { ...process.env, ...env }, stdio: 'inherit' })
  // Ctrl-C reaches the part as well; the parts after it must not start.
  if (signal === 'SIGINT' || signal === 'SIGTERM') process.exit(1)
  return { name, ok: status === 0, time: elapsed(began) }
})

process.stdout.write('\n')
for (const { name, ok, time } of results) process.stdout.write(`${ok ? 'ok  ' : 'FAIL'}  ${name}: ${time}\n`)
// The lanes have counted their own failures; each other part that failed counts as one.
const totals = readTotals()
const failed = Math.max(totals.failed, results[0].ok ? 0 : 1) + results.slice(1).filter(({ ok }) => !ok).length
process.stdout.write(`${totals.passed} passed, ${failed} failed, ${totals.skipped} skipped\n`)
process.exitCode = results.every(({ ok }) => ok) ? 0 : 1
