// The Helm chart, as far as it can be checked without a cluster: what it renders from each of its examples.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect } from '@jest/globals'
import { parse } from 'yaml'
import { readApiConfig } from '../../apps/api/config.js'
import { memory } from '../../apps/api/http/memory.js'
import { projectRoot, projectVersion } from '../../apps/cli/stack/project.js'
import { readWorkerConfig } from '../../apps/worker/config.js'
import { readExecutorAddresses } from '../../domain/backends/executor-addresses.js'
import { blocks } from '../docs/blocks.js'
import {
  allPods,
  chart,
  chartTest,
  componentOf,
  containerOf,
  environmentOf,
  examples,
  lint,
  type Manifest,
  oldestVersion,
  type Pod,
  portOf,
  processEnvironment,
  python,
  read,
  readChart,
  render,
  selects,
  workloads
} from './chart.js'
import { faultsOfBaseline, faultsOfRestricted } from './pod-security.js'

const compose = parse(read('docker-compose.yml'), { merge: true }).services as Record<
  string,
  { image: string; cap_add: string[]; mem_limit: string; stop_grace_period: string }
>
/** Kinds of operators, whose schemas are not those of Kubernetes. */
const kindsOfOthers = ['ServiceMonitor', 'ScaledObject']
const secretVariables = [
  'DATABASE_URL',
  'DATABASE_DIRECT_URL',
  'REDIS_URL',
  'EXECUTOR_TOKEN',
  'SECRETS_KEYS',
  'SMTP_URL',
  'OIDC_CLIENT_SECRET',
  'TEMPORAL_API_KEY',
  'CONTENT_STORE_ACCESS_KEY_ID',
  'CONTENT_STORE_SECRET_ACCESS_KEY'
]
chartTest('the chart has the version of the service', () => {
  expect(chart.version).toBe(projectVersion())
  expect(chart.appVersion).toBe(projectVersion())
})

describe.each(examples)('the example %s', (example) => {
  chartTest('passes the linter', () => {
    expect(lint(example)).toBe('')
  })

  chartTest(
    'is what Kubernetes accepts, in the oldest version that the chart allows and in the newest one known',
    () => {
      const manifests = render(example)
      const program = `
import json, sys
from kubernetes_validate.utils import SchemaNotFoundError, ValidationError, latest_version, validate
manifests, oldest = json.load(sys.stdin)
found = []
for version in (oldest, latest_version()):
    for manifest in manifests:
        name = manifest["kind"] + " " + manifest["metadata"]["name"]
        try:
            validate(manifest, version, strict=True)
        except ValidationError as error:
            found.append([version, name, ".".join(map(str, error.path)) + ": " + error.message[:300]])
        except SchemaNotFoundError:
            found.append([version, manifest["kind"], "no schema"])
print(json.dumps(found))`
      const input = JSON.stringify([manifests, oldestVersion])
      const output = execFileSync(python, ['-c', program], { input, encoding: 'utf8' })
      const faults = JSON.parse(output) as [version: string, name: string, fault: string][]
      const unknown = faults.filter(([, , fault]) => fault === 'no schema')
      expect(faults.filter((fault) => !unknown.includes(fault))).toEqual([])
      expect(unknown.filter(([, kind]) => !kindsOfOthers.includes(kind))).toEqual([])
    }
  )

  chartTest('renders no Secret, and takes each secret from one that exists', () => {
    const manifests = render(example)
    expect(manifests.filter(({ kind }) => kind === 'Secret')).toEqual([])
    for (const { pod } of workloads(manifests))
      for (const { name, value, valueFrom } of containerOf(pod).env!) {
        expect([name, valueFrom !== undefined]).toEqual([name, secretVariables.includes(name)])
        if (valueFrom) expect(valueFrom.secretKeyRef.key).not.toBe('')
        else expect(value).not.toMatch(/password|secret/i)
      }
  })

  chartTest('gives every object a name of its own, of at most 63 characters', () => {
    const names = render(example).map(({ kind, metadata }) => `${kind} ${metadata.name}`)
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([])
    for (const { metadata } of render(example)) expect(metadata.name).toMatch(/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/)
  })

  chartTest('selects with each selector the pods of its own component, and all of them', () => {
    const manifests = render(example)
    const pods = workloads(manifests).map(({ pod }) => pod)
    for (const manifest of manifests) {
      const { selector, podSelector } = manifest.spec ?? {}
      const labels = (podSelector?.matchLabels ?? selector?.matchLabels ?? selector) as Record<string, string>
      // A ServiceMonitor selects Services.
      if (!labels || manifest.kind === 'ServiceMonitor') continue
      const chosen = pods.filter((pod) => selects(labels, pod))
      expect([manifest.metadata.name, chosen.length > 0]).toEqual([manifest.metadata.name, true])
      expect(new Set(chosen.map(componentOf))).toEqual(new Set([componentOf(manifest)]))
      if (manifest.kind === 'Deployment') expect(chosen).toEqual([manifest.spec.template])
    }
  })

  chartTest('gives no pod a token of Kubernetes, and lets none write to its image', () => {
    for (const { pod } of workloads(render(example))) {
      expect(pod.spec.automountServiceAccountToken).toBe(false)
      expect(containerOf(pod).securityContext!.readOnlyRootFilesystem).toBe(true)
    }
  })

  chartTest('gives api and worker a configuration that they accept, with the addresses of all executors', () => {
    const manifests = render(example)
    const headless = manifests.filter(({ kind, spec, metadata }) => {
      return kind === 'Service' && spec.clusterIP === 'None' && metadata.name.includes('-executor-')
    })
    const executors = headless.map(({ metadata, spec }) => ({ host: metadata.name, port: spec.ports![0]!.port }))
    for (const component of ['api', 'worker'])
      for (const { pod } of workloads(manifests, component)) {
        const env = processEnvironment(containerOf(pod))
        const config = component === 'api' ? readApiConfig(env) : readWorkerConfig(env)
        expect(config).toMatchObject({ migrateMode: 'check', executors: { fixed: [], names: executors } })
        expect(readExecutorAddresses(env.EXECUTOR_URL!).names).toHaveLength(workloads(manifests, 'executor').length)
      }
  })

  chartTest('gives every executor settings that it accepts, and the port of its Service', () => {
    const program = 'import os; from qjs_executor.settings import read_settings as read; print(read(os.environ).port)'
    for (const { pod } of workloads(render(example), 'executor')) {
      const container = containerOf(pod)
      const env = { ...environmentOf(container), PYTHONPATH: join(projectRoot, 'apps/executor') }
      const port = execFileSync(python, ['-c', program], { env, encoding: 'utf8' }).trim()
      expect(Number(port)).toBe(portOf(container, 'http'))
    }
  })
})

chartTest('every variable that the chart sets is one that docs/operations/configuration.md describes', () => {
  const rows = read('docs/operations/configuration.md').matchAll(/^\| (`[^|]*`) \|/gm)
  const documented = new Set([...rows].flatMap(([, cell]) => [...cell!.matchAll(/`(\w+)`/g)].map(([, name]) => name)))
  const script = read('deploy/temporal/namespace.sh')
  for (const [name, pod] of allPods()) {
    const variables = containerOf(pod).env!.map((variable) => variable.name)
    const isKnown = (variable: string) =>
      componentOf(pod) === 'temporal-namespace' ? script.includes(variable) : documented.has(variable)
    expect([name, variables.filter((variable) => !isKnown(variable))]).toEqual([name, []])
    expect(new Set(variables).size).toBe(variables.length)
  }
  const { $defs } = JSON.parse(readChart('values.schema.json'))
  const settings = $defs.settings.propertyNames.enum as string[]
  expect(settings.filter((variable) => !documented.has(variable))).toEqual([])
  // What the chart sets itself is not a setting: it would be there twice.
  const { settings: ofBoth, api, worker } = parse(readChart('ci/everything.yaml'))
  const given = Object.keys({ ...ofBoth, ...api.settings, ...worker.settings })
  const set = new Set(allPods().flatMap(([, pod]) => containerOf(pod).env!.map((variable) => variable.name)))
  expect(settings.filter((variable) => set.has(variable)).sort()).toEqual(given.sort())
})

describe('the Pod Security Standards', () => {
  const levelOf = (pod: Pod) => environmentOf(containerOf(pod)).EXECUTOR_ISOLATION

  chartTest('allow api, worker, Jobs and executors with landlock in a restricted namespace', () => {
    const pods = allPods().filter(([, pod]) => [undefined, 'landlock'].includes(levelOf(pod)))
    expect(new Set(pods.map(([, pod]) => componentOf(pod)))).toEqual(
      new Set(['api', 'worker', 'executor', 'migration', 'temporal-namespace'])
    )
    for (const [name, pod] of pods) expect([name, faultsOfRestricted(pod.spec)]).toEqual([name, []])
    for (const { pod } of workloads(render('restricted'))) expect(faultsOfRestricted(pod.spec)).toEqual([])
  })

  chartTest('allow executors with uid in a baseline namespace, with the rights of the compose file', () => {
    const pods = allPods().filter(([, pod]) => levelOf(pod) === 'uid')
    expect(pods.length).toBeGreaterThan(0)
    for (const [name, pod] of pods) {
      expect([name, faultsOfBaseline(pod.spec)]).toEqual([name, []])
      expect(faultsOfRestricted(pod.spec)).not.toEqual([])
      expect(containerOf(pod).securityContext).toEqual({
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'], add: compose.executor!.cap_add },
        readOnlyRootFilesystem: true
      })
      expect(pod.spec.securityContext).toMatchObject({ runAsUser: 0, seccompProfile: { type: 'RuntimeDefault' } })
    }
  })

  chartTest('allow executors with namespaces in a privileged namespace alone', () => {
    const pods = allPods().filter(([, pod]) => levelOf(pod) === 'namespaces')
    expect(pods.length).toBeGreaterThan(0)
    for (const [name, pod] of pods) expect([name, faultsOfBaseline(pod.spec)]).not.toEqual([name, []])
  })
})

chartTest('an executor has no way out, and only api and worker reach it', () => {
  for (const example of examples) {
    const manifests = render(example, '--set-json', 'networkPolicy.metricsFrom=[]')
    const pods = workloads(manifests).map(({ pod }) => pod)
    const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy')
    const policy = policies.find((one) => componentOf(one) === 'executor')!
    expect(policy.spec).toMatchObject({ policyTypes: ['Ingress', 'Egress'], egress: [] })
    const [rule, ...others] = policy.spec.ingress!
    expect(others).toEqual([])
    const callers = pods.filter((pod) => rule!.from.some(({ podSelector }) => selects(podSelector!.matchLabels!, pod)))
    expect(new Set(callers.map(componentOf))).toEqual(new Set(['api', 'worker']))
    const executor = containerOf(workloads(manifests, 'executor')[0]!.pod)
    expect(rule!.ports).toEqual([{ port: portOf(executor, 'http') }])
    // No one reaches a worker without metrics.
    expect(policies.find((one) => componentOf(one) === 'worker')!.spec.ingress).toEqual([])
  }
})

chartTest('every process has the memory and the time to stop that it has in Docker', () => {
  const seconds = (service: string) => Number.parseInt(compose[service]!.stop_grace_period, 10)
  const [api, worker, executor] = ['api', 'worker', 'executor'].map(
    (component) => workloads(render('minimal'), component)[0]!.pod
  )
  const memoryOf = (pod: Pod) => containerOf(pod).resources!.limits!.memory
  const sum = Object.values(memory).reduce((all, bytes) => all + bytes, 0)
  expect(memoryOf(api!)).toBe(`${sum / 1024 ** 2}Mi`)
  expect(memoryOf(worker!)).toBe(compose.worker!.mem_limit.replace(/g$/, 'Gi'))
  expect(memoryOf(executor!)).toBe(compose.executor!.mem_limit.replace(/g$/, 'Gi'))
  const drain = Number(environmentOf(containerOf(api!)).SHUTDOWN_DRAIN_SECONDS)
  expect(drain).toBeGreaterThan(0)
  expect(api!.spec.terminationGracePeriodSeconds).toBe(drain + seconds('api'))
  expect(worker!.spec.terminationGracePeriodSeconds).toBe(seconds('worker'))
  expect(executor!.spec.terminationGracePeriodSeconds).toBe(seconds('executor'))
  const large = workloads(render('everything'), 'executor').find(({ metadata }) => metadata.name.endsWith('-large'))!
  const { EXECUTOR_DRAIN_SECONDS } = environmentOf(containerOf(large.pod))
  expect(large.pod.spec.terminationGracePeriodSeconds).toBeGreaterThan(Number(EXECUTOR_DRAIN_SECONDS) + 10)
})

chartTest('the database is migrated before api and worker start, with what is there before the chart', () => {
  for (const example of examples) {
    const migration = workloads(render(example), 'migration')[0]!
    expect(migration.metadata.annotations!['helm.sh/hook']).toBe('pre-install,pre-upgrade')
    expect(containerOf(migration.pod).command).toEqual(['qjob', 'admin', 'migrate'])
    // Helm creates the chart's own account after these Jobs.
    for (const { kind, pod } of workloads(render(example)))
      if (kind === 'Job') expect(pod.spec.serviceAccountName).toBeUndefined()
  }
})

chartTest('the Job for Temporal runs the script of the repository, in the image of the compose file', () => {
  const job = workloads(render('restricted'), 'temporal-namespace')[0]!
  // Kubernetes reads `$$(` as `$(`.
  const script = containerOf(job.pod).command![2]!.replaceAll('$$(', '$(')
  expect(script).toBe(read('deploy/temporal/namespace.sh'))
  expect(spawnSync('sh', ['-n'], { input: script }).status).toBe(0)
  expect(containerOf(job.pod).image).toBe(compose['temporal-namespace']!.image)
})

chartTest('an upgrade with versions of workflow code leaves the workers of the previous version as they are', () => {
  const workersOf = (...more: string[]): Map<string, Manifest['spec']> =>
    new Map(
      workloads(render('everything', '--set', 'worker.autoscaling.enabled=false', ...more), 'worker').map(
        ({ metadata, spec }) => [metadata.name, spec]
      )
    )
  const before = workersOf('--set', 'image.tag=1.0.0', '--set-json', 'worker.drainingTags=[]')
  const during = workersOf('--set', 'image.tag=1.1.0', '--set-json', 'worker.drainingTags=["1.0.0"]')
  expect([...before.keys()]).toEqual(['jobs-worker-1-0-0'])
  expect([...during.keys()]).toEqual(['jobs-worker-1-1-0', 'jobs-worker-1-0-0'])
  expect(during.get('jobs-worker-1-0-0')).toEqual(before.get('jobs-worker-1-0-0'))
})

chartTest('pools that scale name metrics of the service, and Deployments of the chart', () => {
  const manifests = render('everything')
  const scaled = manifests.filter(({ kind }) => kind === 'ScaledObject')
  expect(scaled.map(({ metadata }) => metadata.name)).toEqual(['jobs-worker-0-2-0', 'jobs-executor-small'])
  const deployments = workloads(manifests).map(({ metadata }) => metadata.name)
  for (const { spec } of scaled) {
    expect(deployments).toContain(spec.scaleTargetRef!.name)
    const names = spec.triggers!.flatMap(({ metadata }) => metadata.query!.match(/qjs_\w+/g)!)
    expect(names.filter((name) => !read('docs/operations/metrics.md').includes(`| \`${name}\` |`))).toEqual([])
  }
})

chartTest('the values of docs/operations/deployment/kubernetes.md are values of the chart', () => {
  const page = 'docs/operations/deployment/kubernetes.md'
  const [example, ...others] = blocks.filter((block) => block.page === page && block.kind === 'yaml')
  expect(others).toEqual([])
  const folder = mkdtempSync(join(tmpdir(), 'chart-values-'))
  try {
    const file = join(folder, 'values.yaml')
    writeFileSync(file, example!.text)
    const names = workloads(render(file)).map(({ metadata }) => metadata.name)
    // The names that the commands of the page use.
    expect(names).toContain('jobs-quantum-job-service-api')
  } finally {
    rmSync(folder, { recursive: true })
  }
  const known = parse(readChart('values.yaml'))
  const named = [...read(page).matchAll(/`((?:[a-z]\w*\.)+\w+)`/g)].map(([, path]) => path!)
  const paths = named.filter((path) => path.split('.')[0]! in known)
  expect(paths.length).toBeGreaterThan(10)
  const isThere = (path: string) => path.split('.').reduce((value, name) => value?.[name], known) !== undefined
  expect(paths.filter((path) => !isThere(path))).toEqual([])
})

describe('values', () => {
  chartTest('that the chart does not know are refused, at every depth', () => {
    for (const value of [
      'replicas=3',
      'api.replica=3',
      'secrets.databaseUrl.value=postgres://',
      'executorPools[0].isolatoin=uid',
      'settings.TEAM_RUNNING_JOB_MAX=3',
      'settings.PORT=80',
      'networkPolicy.egress[0].from=x'
    ])
      expect(() => render('minimal', '--set', value)).toThrow(/schema|additional properties|not allowed/i)
  })

  chartTest('that contradict each other are refused', () => {
    const refused: [message: RegExp, ...values: string[]][] = [
      [/isolation/, 'executorPools[0].name=a', 'executorPools[0].isolation=uid', 'executorPools[0].privileged=true'],
      [/temporal\.deployment/, 'worker.drainingTags[0]=0.1.0'],
      [/metrics\.enabled/, 'metrics.serviceMonitor.enabled=true'],
      [/prometheusAddress/, 'worker.autoscaling.enabled=true'],
      [/without TLS/, 'temporal.createNamespace.enabled=true', 'temporal.tls.enabled=true'],
      [/publicUrl/, 'publicUrl=jobs.example.org']
    ]
    for (const [message, ...values] of refused)
      expect(() => render('minimal', ...values.flatMap((value) => ['--set', value]))).toThrow(message)
  })

  chartTest('have a default and a schema each', () => {
    type Schema = { properties?: Record<string, Schema>; $ref?: string; type?: string }
    const schema = JSON.parse(readChart('values.schema.json')) as Schema & { $defs: Record<string, Schema> }
    const compare = (at: string, value: unknown, found: Schema): void => {
      const own = found.$ref ? schema.$defs[found.$ref.split('/').at(-1)!]! : found
      if (!own.properties || typeof value !== 'object' || value === null || Array.isArray(value)) return
      const names = Object.keys(own.properties).filter((name) => name !== 'global' && !/resources$/.test(at))
      if (names.length > 0) expect([at, Object.keys(value).sort()]).toEqual([at, names.sort()])
      for (const [name, one] of Object.entries(value)) compare(`${at}.${name}`, one, own.properties[name]!)
    }
    compare('values', parse(readChart('values.yaml')), schema)
  })

  chartTest('that are whole numbers reach the processes as they are written', () => {
    const { pod } = workloads(render('everything'), 'api')[0]!
    expect(environmentOf(containerOf(pod))).toMatchObject({
      TEAM_STORAGE_MAX_MIB: '1048576',
      RATE_LIMIT_SCALE: '0.5',
      DATABASE_POOL_MAX: '20'
    })
  })
})
