// `npm run bench`: the platform's cost over its bare parts, each pair measured in one run on real Temporal, Postgres and
// Redis, and printed as ratios. Figures from different machines or under different load cannot be compared; the ratios
// within one run can.
import { availableParallelism } from 'node:os'
import { benchAccess } from './access.js'
import { benchBackends } from './backends.js'
import { benchBackup } from './backup.js'
import { benchCapsules } from './capsules.js'
import { benchCommits } from './commits.js'
import { benchCompare } from './compare.js'
import { benchConsoleInChromium } from './console/in-chromium.js'
import { benchConsoleSimulators } from './console/simulators.js'
import { benchExecutor } from './executor.js'
import { benchExecutorPool } from './executor-pool.js'
import { benchGraphs } from './graphs.js'
import { benchLists } from './lists/lists.js'
import { benchLiveOutput } from './live-output.js'
import { benchPlayground } from './playground.js'
import { benchProviders } from './providers/providers.js'
import { benchRateLimits } from './rate-limits.js'
import { benchSubmit } from './submit.js'
import { type BenchStack, startBenchStack } from './support/bench-stack.js'
import { benchSweep } from './sweep.js'
import { benchTerminal } from './terminal.js'
import { benchThroughput } from './throughput/throughput.js'
import { benchHeldPolls, benchStreams } from './waiters.js'
import { benchWal } from './wal.js'

const stages: Record<string, (stack: BenchStack) => Promise<void>> = {
  backends: benchBackends,
  access: benchAccess,
  submit: benchSubmit,
  'rate-limits': benchRateLimits,
  throughput: benchThroughput,
  graphs: benchGraphs,
  capsules: benchCapsules,
  compare: benchCompare,
  backup: benchBackup,
  playground: benchPlayground,
  executor: benchExecutor,
  'executor-pool': benchExecutorPool,
  lists: benchLists,
  wal: benchWal,
  'held-polls': benchHeldPolls,
  streams: benchStreams,
  'live-output': benchLiveOutput,
  terminal: benchTerminal,
  sweep: benchSweep,
  providers: benchProviders,
  'console-simulators': benchConsoleSimulators,
  'console-in-chromium': benchConsoleInChromium
}

/** Set by tools/bench.mjs for `--compare REF`: the folder in which that commit is built. */
const { COMPARED_REF: ref, COMPARED_ROOT: root } = process.env

const chosen = process.argv.slice(2)
const unknown = chosen.filter((name) => !Object.hasOwn(stages, name))
if (unknown.length > 0) {
  console.error(`unknown bench: ${unknown.join(', ')}; choose from ${Object.keys(stages).join(', ')}`)
  process.exit(2)
}

console.log(`${availableParallelism()} cores, Node ${process.version}; all parts share them with the load\n`)
const stack = await startBenchStack()
try {
  if (ref && root) await benchCommits(stack, { ref, root })
  for (const [name, stage] of Object.entries(stages))
    if (chosen.includes(name) || (chosen.length === 0 && !ref)) await stage(stack)
} finally {
  await stack.close()
}
console.log(`${(performance.now() / 1000).toFixed(0)} s in total`)
