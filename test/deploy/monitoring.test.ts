// The alert rules and the dashboard ask for metrics, labels and values that the product exports.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { parser } from '@prometheus-io/lezer-promql'
import { collectDefaultMetrics, type Metric, Registry } from 'prom-client'
import { parse as parseYaml } from 'yaml'
import { accessTable } from '../../apps/api/http/access-table.js'
import { createMetrics } from '../../apps/api/http/telemetry/metrics.js'
import { projectRoot } from '../../apps/cli/stack/project.js'
import { createWorkerMetrics, messageKinds, messageOutcomes } from '../../apps/worker/metrics.js'
import { errorCodes } from '../../domain/errors.js'
import { executionModes, jobStatuses } from '../../domain/jobs/job-status.js'
import { deferralReasons } from '../../domain/jobs/queue-reason.js'
import { sweepNames } from '../../domain/operations/sweep.js'
import { createExecutorClient } from '../../services/executor/client.js'
import { createExecutorGate } from '../../services/executor/gate.js'
import type { ProviderFaultKind } from '../../services/providers/adapter.js'
import { createStateMetrics } from '../../services/telemetry/state-metrics.js'
import { endpointsTo } from '../support/jobs/gate-to.js'

const read = (path: string): string => readFileSync(join(projectRoot, path), 'utf8')

interface Rule {
  alert: string
  expr: string
  for?: string
  labels?: { severity?: string }
  annotations?: { summary?: string; description?: string; runbook?: string }
}
interface Panel {
  id: number
  type: string
  title: string
  datasource?: { uid: string }
  gridPos: { x: number; y: number; w: number; h: number }
  targets?: { expr: string; legendFormat?: string }[]
}

const RULES = 'deploy/monitoring/alerts.yml'
const PAGE = 'docs/operations/observability.md'
const rules = (parseYaml(read(RULES)) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules)
const dashboard = JSON.parse(read('deploy/monitoring/dashboard.json')) as { schemaVersion: number; panels: Panel[] }
const panels = dashboard.panels.filter(({ type }) => type !== 'row')

/** The labels of each series. Prometheus itself adds those of the target. */
const series = new Map<string, Set<string>>([['up', new Set(['job', 'instance'])]])
for (const metric of registered()) {
  const { name, labelNames } = metric as unknown as { name: string; labelNames: string[] }
  const labels = ['job', 'instance', ...labelNames]
  if (metric.constructor.name === 'Histogram') {
    series.set(`${name}_bucket`, new Set([...labels, 'le']))
    for (const part of ['sum', 'count']) series.set(`${name}_${part}`, new Set(labels))
  } else series.set(name, new Set(labels))
}

function registered(): Metric[] {
  const [state, ofNode] = [new Registry(), new Registry()]
  createStateMetrics(state, null as never)
  collectDefaultMetrics({ register: ofNode })
  const endpoints = endpointsTo(createExecutorClient('http://127.0.0.1:1', 'a-token'))
  const worker = createWorkerMetrics(createExecutorGate(endpoints), endpoints).registry
  return [createMetrics().registry, worker, state, ofNode].flatMap(
    (registry) => registry.getMetricsAsArray() as unknown as Metric[]
  )
}

const providerOutcomes: (ProviderFaultKind | 'ok' | 'aborted')[] = [
  ...(['ok', 'refused', 'unauthorized', 'not_found', 'busy', 'offline', 'retired', 'unreachable', 'unclear'] as const),
  'aborted'
]
const routes = Object.keys(accessTable).map((line) => line.split(' '))

/** The values of labels that are words of small sets. */
const values: Record<string, readonly string[]> = {
  engine: executionModes,
  sweep: sweepNames,
  code: ['none', ...errorCodes],
  reason: ['ready', 'not_before', 'engine_unavailable', ...deferralReasons],
  status: [...['1xx', '2xx', '3xx', '4xx', '5xx'], ...jobStatuses],
  method: routes.map(([method]) => method!),
  route: routes.map(([, route]) => route!),
  kind: messageKinds,
  outcome: ['accepted', 'repeated', ...errorCodes, ...providerOutcomes, ...messageOutcomes]
}

interface Selector {
  metric: string
  from: number
  to: number
  matchers: { label: string; value: string }[]
}
interface Expression {
  faults: string[]
  selectors: Selector[]
  /** What `by` names, with the place of its aggregate. */
  groupings: { label: string; from: number; to: number }[]
}

function parsed(text: string): Expression {
  // What Grafana puts there.
  const query = text.replaceAll(/\$__(rate_interval|range)\b/g, '5m')
  const expression: Expression = { faults: [], selectors: [], groupings: [] }
  const { selectors } = expression
  parser.parse(query).iterate({
    enter({ type, name, from, to, node }) {
      const own = query.slice(from, to)
      if (type.isError) expression.faults.push(`at ${from}: ${query.slice(from)}`)
      if (name === 'VectorSelector') selectors.push({ metric: '', from, to, matchers: [] })
      if (name === 'Identifier' && node.parent?.name === 'VectorSelector') selectors.at(-1)!.metric = own
      if (name === 'UnquotedLabelMatcher') {
        const [, label, value] = /^(\w+)\s*(?:=~|!~|!=|=)\s*"(.*)"$/.exec(own) ?? []
        selectors.at(-1)!.matchers.push({ label: label ?? own, value: value ?? '' })
      }
      if (name === 'LabelName' && node.parent?.name === 'GroupingLabels') {
        const aggregate = node.parent.parent!.parent!
        expression.groupings.push({ label: own, from: aggregate.from, to: aggregate.to })
      }
    }
  })
  return expression
}

/** What an expression asks for in vain. */
function faultsOf(text: string): string[] {
  const { faults, selectors, groupings } = parsed(text)
  const unknown = selectors.filter(({ metric }) => !series.has(metric)).map(({ metric }) => `no metric ${metric}`)
  const named = selectors.flatMap(({ metric, matchers }) => matchers.map((matcher) => ({ metric, ...matcher })))
  const grouped = groupings.flatMap(({ label, from, to }) =>
    selectors.filter((one) => one.from >= from && one.to <= to).map(({ metric }) => ({ metric, label }))
  )
  const labels = [...named, ...grouped]
    .filter(({ metric, label }) => series.has(metric) && !series.get(metric)!.has(label))
    .map(({ metric, label }) => `${metric} has no label ${label}`)
  const words = named.flatMap(({ label, value }) =>
    value
      .split('|')
      .filter((word) => values[label] && !values[label].includes(word))
      .map((word) => `${label} is never ${word}`)
  )
  return [...faults, ...(selectors.length === 0 ? ['it selects nothing'] : []), ...unknown, ...labels, ...words]
}

const targets = panels.flatMap(({ title, targets = [] }) => targets.map((target) => ({ title, ...target })))
const jobOfPage = /job_name: (\S+)/.exec(read(PAGE))![1]

/** Whether a series that the expression returns has the label: it is grouped by it, or not grouped at all. */
function keeps(text: string, label: string): boolean {
  const { groupings, selectors } = parsed(text)
  if (groupings.length > 0) return groupings.some((grouping) => grouping.label === label)
  return selectors.some(({ metric }) => series.get(metric)?.has(label))
}

test('this test finds a metric, a label and a value that the product does not export, and a fault of syntax', () => {
  expect(faultsOf('sum by (mode) (qjs_executor_up{engine="none"}) + rate(qjs_absent_total[5m])')).toEqual([
    'no metric qjs_absent_total',
    'qjs_executor_up has no label engine',
    'qjs_executor_up has no label mode',
    'engine is never none'
  ])
  expect(faultsOf('sum(up')).not.toEqual([])
  expect(faultsOf('max(qjs_job_run_seconds)')).toEqual(['no metric qjs_job_run_seconds'])
})

describe.each(rules.map((rule) => [rule.alert, rule] as const))('the alert %s', (_name, rule) => {
  test('asks for what the product exports', () => {
    expect(faultsOf(rule.expr)).toEqual([])
    const jobs = parsed(rule.expr).selectors.flatMap(({ matchers }) => matchers.filter(({ label }) => label === 'job'))
    expect(jobs.filter(({ value }) => value !== jobOfPage)).toEqual([])
  })

  test('has a severity, a duration, a summary, and what to do', () => {
    const { labels, annotations } = rule
    expect(['critical', 'warning']).toContain(labels?.severity)
    expect(rule.for).toMatch(/^\d+m$/)
    expect(annotations?.summary).toMatch(/^[A-Z][^.]+( \(\{\{ \$labels\.\w+ \}\}\))?$/)
    expect(annotations?.description).toMatch(/^[A-Z].+\.$/s)
    const shown = [...`${annotations?.summary}${annotations?.description}`.matchAll(/\{\{ \$labels\.(\w+) \}\}/g)]
    expect(shown.filter(([, label]) => !keeps(rule.expr, label!))).toEqual([])
  })

  test('leads to a heading of a page', () => {
    const [page, anchor] = rule.annotations!.runbook!.split('#')
    const headings = [...read(page!).matchAll(/^#+ +(.+)$/gm)].map(([, heading]) =>
      heading!
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\-_ ]/gu, '')
        .replaceAll(' ', '-')
    )
    expect(headings).toContain(anchor ?? headings[0])
  })
})

test('no two alerts have one name', () => {
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length)
})

test(`${PAGE} lists every alert with its severity and summary`, () => {
  const listed = [...read(PAGE).matchAll(/^\| `([A-Z]\w+)` \| (critical|warning) \| (.*) \|$/gm)].map(([line]) => line)
  const summary = (rule: Rule) => rule.annotations!.summary!.replace(/ \(\{\{.*\}\}\)$/, '')
  expect(listed).toEqual(rules.map((rule) => `| \`${rule.alert}\` | ${rule.labels!.severity} | ${summary(rule)} |`))
})

describe('the dashboard', () => {
  test.each(targets.map((target) => [target.title, target] as const))(
    'asks for what the product exports: %s',
    (_title, { expr, legendFormat = '' }) => {
      expect(faultsOf(expr)).toEqual([])
      const shown = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label!)
      expect(shown.filter((label) => !keeps(expr, label))).toEqual([])
    }
  )

  test('can be imported: it has a version, and each panel an id, a query, and the data source that is chosen', () => {
    expect(dashboard.schemaVersion).toBeGreaterThanOrEqual(39)
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length)
    expect(
      panels.filter(({ datasource, targets }) => !/^\$\{datasource\}$/.test(datasource?.uid ?? '') || !targets?.length)
    ).toEqual([])
  })

  test('has no two panels in one place', () => {
    const taken = new Set<string>()
    for (const { title, gridPos } of dashboard.panels)
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect([title, x, y, x < 24, taken.has(`${x} ${y}`)]).toEqual([title, x, y, true, false])
          taken.add(`${x} ${y}`)
        }
  })
})
