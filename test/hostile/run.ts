// `npm run hostile [-- --minutes 10 --only NAME --short]`
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { removeDataDir } from '../chaos/data-folder.js'
import { attacks } from './attacks/table.js'
import { runHostile } from './hostile.js'
import { reportText } from './report.js'

const AFTER_MS = 10_000
const ALONE_MS = 90_000
const RECOVERY_MS = 60_000
const SHORT_ATTACK_MS = 8_000

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    only: { type: 'string', multiple: true, default: [] },
    short: { type: 'boolean', default: false }
  }
})
const refuse = (message: string): never => {
  console.error(message)
  process.exit(2)
}
const minutes = Number(values.minutes)
if (!(minutes > 0)) refuse(`--minutes must be a number above 0 (got ${values.minutes})`)
for (const name of values.only)
  if (!attacks.some((attack) => attack.name === name))
    refuse(`--only must be one of ${attacks.map((attack) => attack.name).join(', ')} (got ${name})`)

const chosen = attacks.filter((attack) =>
  values.only.length > 0 ? values.only.includes(attack.name) : !values.short || attack.short
)
const report = await runHostile({
  attacks: chosen,
  aloneMs: values.short ? SHORT_ATTACK_MS : ALONE_MS,
  attackMs: values.short ? SHORT_ATTACK_MS : (minutes * 60_000) / chosen.length,
  afterMs: AFTER_MS,
  recoveryMs: RECOVERY_MS,
  say: (line) => console.log(line)
})
console.log(`\n${reportText(report)}`)
const broken = report.attacks.some((attack) => attack.broken.length > 0)
// After a run without a broken promise the report alone is kept.
if (!broken) {
  removeDataDir(report.dataDir)
  mkdirSync(report.dataDir)
}
const file = join(report.dataDir, 'hostile.json')
writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`)
console.log(`\nThe report as JSON${broken ? ', the database and the logs' : ''}: ${broken ? report.dataDir : file}`)
process.exitCode = broken ? 1 : 0
