// `npm run chaos [-- --minutes 5 --seed 1 --jobs-per-second 2 --content-store]`
import { parseArgs } from 'node:util'
import { countFindings, runChaos } from './chaos.js'
import { removeDataDir } from './data-folder.js'
import { killedParts } from './killer.js'
import { reportText } from './report.js'

/** On average each part is killed about once a minute, the time after which it counts as stable again. */
const KILL_EVERY_MS = 9_000
const SETTLE_MS = 5 * 60_000
const DEED_EVERY_MS = 15_000
/** Beyond the statement timeout of the service (10 s). */
const FROZEN_MS = 25_000

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    'jobs-per-second': { type: 'string', default: '2' },
    'content-store': { type: 'boolean', default: false }
  }
})
const number = (name: 'minutes' | 'seed' | 'jobs-per-second'): number => {
  const value = Number(values[name])
  if (Number.isFinite(value) && value > 0) return value
  console.error(`--${name} must be a number above 0 (got ${values[name]})`)
  process.exit(2)
}
const minutes = number('minutes')
const seed = number('seed')
console.log(`chaos for about ${minutes} minutes; repeat with --seed ${seed}`)

const report = await runChaos({
  seed,
  rounds: Math.max(1, Math.round((minutes * 60_000) / (killedParts.length * KILL_EVERY_MS))),
  everyMs: KILL_EVERY_MS,
  jobsPerSecond: number('jobs-per-second'),
  contentStore: values['content-store'],
  deedEveryMs: DEED_EVERY_MS,
  frozenMs: FROZEN_MS,
  settleMs: SETTLE_MS,
  // The default is ten minutes, for providers that accept late; the emulated one never does.
  env: { PROVIDER_LOOKUP_WINDOW: '30' },
  say: (line) => console.log(line)
})
console.log(`\n${reportText(report)}`)
const broken = countFindings(report.findings)
if (broken > 0) console.log(`\nThe database and the logs are kept in ${report.dataDir}; seed ${seed}.`)
else removeDataDir(report.dataDir)
process.exitCode = broken > 0 ? 1 : 0
