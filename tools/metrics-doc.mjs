// Writes docs/operations/metrics.md from the metrics that the api and the worker register: node tools/metrics-doc.mjs. With
// --print it only prints.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './bootstrap.mjs'
import { importTypescript } from './import-typescript.mjs'

const { api, job, state, worker } = await registries()

const text = `# Metrics

<!-- Written by tools/metrics-doc.mjs from the metrics that the programs register. -->

Labels are words of small sets, never ids. \`backend\` is a slug of the catalogue, \`none\` where a request was refused before
its backend was known. \`mode\` is \`direct\` or \`temporal\`, as submitted. \`executor\` is an address of \`EXECUTOR_URL\`, or of
a name in it. A histogram has \`_bucket\`, \`_sum\` and \`_count\`.

## Jobs

Reported by api and worker. Each change of a status is counted once, by the process that committed it. Sum over processes.

${table(job)}

## State of the service

Reported by api and worker, from the database. Every process reports the same values, so take the maximum over processes.
They are read when a server scrapes, at most every five seconds. While the database is away they are absent, and
\`qjs_state_known\` is 0. \`engine\` is what runs the job: \`direct\` (the queue) or \`temporal\`, where every job at a provider
runs, in either mode.

${table(state)}

## Requests

Reported by the api.

${table(without(api, job))}

## Calls of the worker

Reported by the worker.

${table(without(worker, job))}
`

if (process.argv.includes('--print')) process.stdout.write(text)
else writeFileSync(join(root, 'docs/operations/metrics.md'), text)

function table(metrics) {
  const rows = metrics.map(
    ({ name, type, labels, help }) => `| \`${name}\` | ${type} | ${labels.join(', ')} | ${help.replace(/\.$/, '')} |`
  )
  return ['| Metric | Type | Labels | Meaning |', '|---|---|---|---|', ...rows].join('\n')
}

function without(metrics, others) {
  const names = new Set(others.map(({ name }) => name))
  return metrics.filter(({ name }) => !names.has(name))
}

async function registries() {
  const { default: registered } = await importTypescript(`
    import { Registry } from 'prom-client'
    import { createMetrics } from './apps/api/http/telemetry/metrics.js'
    import { createWorkerMetrics } from './apps/worker/metrics.js'
    import { createJobMetrics } from './services/telemetry/job-metrics.js'
    import { createStateMetrics } from './services/telemetry/state-metrics.js'
    const [job, state] = [new Registry(), new Registry()]
    createJobMetrics(job)
    createStateMetrics(state, null)
    const gate = { permits: 0, inUse: 0, waiting: 0 }
    export default { api: createMetrics().registry, job, state, worker: createWorkerMetrics(gate, { list: () => [] }).registry }`)
  const described = Object.entries(registered).map(async ([name, registry]) => [name, await describe(registry)])
  return Object.fromEntries(await Promise.all(described))
}

async function describe(registry) {
  const types = new Map((await registry.getMetricsAsJSON()).map(({ name, type }) => [name, type]))
  return registry
    .getMetricsAsArray()
    .map(({ name, help, labelNames }) => ({ name, help, labels: labelNames, type: types.get(name) }))
}
