// What the Helm chart renders, as objects.
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { afterAll } from '@jest/globals'
import { parse, parseAllDocuments } from 'yaml'
import { projectRoot } from '../../apps/cli/stack/project.js'
import { testWith } from '../support/needed-program.js'
import { createAuthority } from '../support/tls/certificates.js'

const helm = process.env.TEST_HELM || null
export const chartTest = testWith(helm, 'There is no Helm: install Helm 3.18 or later, or Go to build it')

export const read = (path: string): string => readFileSync(join(projectRoot, path), 'utf8')
export const python = join(projectRoot, '.venv/bin/python')

export const chartFolder = join(projectRoot, 'deploy/helm/quantum-job-service')
export const examples = readdirSync(join(chartFolder, 'ci')).map((name) => name.replace(/\.yaml$/, ''))
export const readChart = (name: string): string => readFileSync(join(chartFolder, name), 'utf8')
export const chart = parse(readChart('Chart.yaml')) as Record<'version' | 'appVersion' | 'kubeVersion', string>

export interface SecurityContext {
  privileged?: boolean
  allowPrivilegeEscalation?: boolean
  readOnlyRootFilesystem?: boolean
  runAsNonRoot?: boolean
  runAsUser?: number
  procMount?: string
  sysctls?: object[]
  capabilities?: { add?: string[]; drop?: string[] }
  seccompProfile?: { type: string }
  appArmorProfile?: { type: string }
  seLinuxOptions?: { type?: string; user?: string; role?: string }
}

interface Handler {
  httpGet?: { path: string; port: string | number; host?: string }
  tcpSocket?: { port: string | number; host?: string }
  exec?: { command: string[] }
}

export interface Container {
  name: string
  image: string
  command?: string[]
  env?: { name: string; value?: string; valueFrom?: { secretKeyRef: { name: string; key: string } } }[]
  ports?: { name: string; containerPort: number; hostPort?: number }[]
  volumeMounts?: { name: string; mountPath: string }[]
  startupProbe?: Handler
  livenessProbe?: Handler
  readinessProbe?: Handler
  lifecycle?: { postStart?: Handler; preStop?: Handler }
  securityContext?: SecurityContext
  resources?: { requests?: Record<string, string | number>; limits?: Record<string, string | number> }
}

export interface PodSpec {
  containers: Container[]
  initContainers?: Container[]
  hostNetwork?: boolean
  hostPID?: boolean
  hostIPC?: boolean
  serviceAccountName?: string
  automountServiceAccountToken?: boolean
  terminationGracePeriodSeconds?: number
  securityContext?: SecurityContext
  volumes?: { name: string; [kind: string]: unknown }[]
}

export interface Pod {
  metadata: { labels: Record<string, string> }
  spec: PodSpec
}

export interface Peer {
  podSelector?: { matchLabels?: Record<string, string> }
}

export interface Manifest {
  apiVersion: string
  kind: string
  metadata: { name: string; labels: Record<string, string>; annotations?: Record<string, string> }
  spec: {
    template?: Pod
    selector?: Record<string, unknown> & { matchLabels?: Record<string, string> }
    podSelector?: { matchLabels: Record<string, string> }
    clusterIP?: string
    ports?: { port: number; targetPort: string }[]
    policyTypes?: string[]
    ingress?: { from: Peer[]; ports: { port: number }[] }[]
    egress?: { to?: Peer[]; ports: { port: number }[] }[]
    triggers?: { metadata: Record<string, string> }[]
    scaleTargetRef?: { name: string }
    rules?: { host: string }[]
  }
}

function runHelm(args: string[]): { ok: boolean; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(helm!, args, { encoding: 'utf8', timeout: 120_000 })
  return { ok: status === 0, stdout, stderr }
}

/** The oldest version of Kubernetes that the chart allows. */
export const oldestVersion = /^>=(\d+\.\d+)/.exec(chart.kubeVersion)![1]!
const version = ['--kube-version', oldestVersion]

/** @param example a name of the folder `ci`, or the path of a file. */
const valuesOf = (example: string): string[] => [
  '--values',
  isAbsolute(example) ? example : join(chartFolder, 'ci', `${example}.yaml`)
]

/** @returns the fault that Helm reports; empty when there is none. */
export function lint(example: string): string {
  const { ok, stdout, stderr } = runHelm(['lint', '--strict', ...version, chartFolder, ...valuesOf(example)])
  return ok ? '' : stdout + stderr
}

const rendered = new Map<string, Manifest[]>()

/** Renders an example. @param more further arguments of Helm. @throws Error with what Helm reports. */
export function render(example: string, ...more: string[]): Manifest[] {
  const args = ['template', 'jobs', chartFolder, ...version, '--namespace', 'science', ...valuesOf(example), ...more]
  const known = rendered.get(args.join(' '))
  if (known) return known
  const { ok, stdout, stderr } = runHelm(args)
  if (!ok) throw new Error(stderr)
  const manifests = parseAllDocuments(stdout).flatMap((document) => (document.toJSON() as Manifest | null) ?? [])
  rendered.set(args.join(' '), manifests)
  return manifests
}

/** The component of a manifest or pod: api, worker, executor, migration and so on. */
export const componentOf = ({ metadata }: { metadata: { labels: Record<string, string> } }): string =>
  metadata.labels['app.kubernetes.io/component']!

/** Deployments and Jobs. */
export const workloads = (manifests: Manifest[], component?: string): (Manifest & { pod: Pod })[] =>
  manifests
    .filter((manifest) => manifest.spec?.template && (!component || componentOf(manifest) === component))
    .map((manifest) => ({ ...manifest, pod: manifest.spec.template! }))

/** A container's environment, with a value for each variable that comes from a Secret. */
export const environmentOf = ({ env = [] }: Container): Record<string, string> =>
  Object.fromEntries(env.map(({ name, value, valueFrom }) => [name, valueFrom ? secrets[name]! : value!]))

/** The environment of a process of api or worker. Files that a pod mounts are replaced by some that are here. */
export function processEnvironment(container: Container): Record<string, string> {
  const env = { ...imageEnvironment, ...environmentOf(container) }
  const mounted = container.volumeMounts!.map(({ mountPath }) => `${mountPath}/`)
  for (const [name, value] of Object.entries(env)) {
    if (!value.startsWith('/') || value === imageEnvironment[name]) continue
    if (!mounted.some((path) => value.startsWith(path))) throw new Error(`${name}: no volume has ${value}`)
    const [file] = /(?<=_)(CA|CERT|KEY)$/.exec(name) ?? []
    if (file) env[name] = join(certificates(), file)
  }
  return env
}

let certificateFolder: string | null = null
afterAll(() => {
  if (certificateFolder) rmSync(certificateFolder, { recursive: true })
})

/** A folder with the files CA, CERT and KEY. */
function certificates(): string {
  if (certificateFolder) return certificateFolder
  const authority = createAuthority('chart')
  const { cert, key } = authority.sign(['redis.internal', 'temporal.internal'])
  certificateFolder = mkdtempSync(join(tmpdir(), 'chart-certificates-'))
  for (const [name, text] of Object.entries({ CA: authority.ca, CERT: cert, KEY: key }))
    writeFileSync(join(certificateFolder, name), text)
  return certificateFolder
}

/** Whether a selector selects a pod. */
export const selects = (selector: Record<string, string>, { metadata }: Pod): boolean =>
  Object.entries(selector).every(([label, value]) => metadata.labels[label] === value)

/** A pod of the chart has one container. */
export const containerOf = ({ spec }: Pod): Container => spec.containers[0]!
export const portOf = (container: Container, port: string | number): number =>
  typeof port === 'number' ? port : container.ports!.find(({ name }) => name === port)!.containerPort

/** The pods of all examples, with their names. */
export const allPods = (): [string, Pod][] =>
  examples.flatMap((example) =>
    workloads(render(example)).map(({ metadata, pod }) => [`${example}: ${metadata.name}`, pod] as [string, Pod])
  )

/** Values for the variables that come from Secrets. */
const secrets: Record<string, string> = {
  DATABASE_URL: 'postgres://qjs:password@database:5432/qjs',
  DATABASE_DIRECT_URL: 'postgres://qjs:password@database:5432/qjs',
  REDIS_URL: 'rediss://:password@redis:6379/0',
  EXECUTOR_TOKEN: 'a-token-of-the-executor',
  SECRETS_KEYS: `k1:${randomBytes(32).toString('base64')}`,
  SMTP_URL: 'smtps://user:password@mail.example.org',
  OIDC_CLIENT_SECRET: 'a-client-secret',
  TEMPORAL_API_KEY: 'a-key',
  CONTENT_STORE_ACCESS_KEY_ID: 'an-id',
  CONTENT_STORE_SECRET_ACCESS_KEY: 'a-secret'
}

/** What the images of api and worker set. */
const imageEnvironment: Record<string, string> = Object.fromEntries(
  [...read('deploy/Dockerfile').matchAll(/^ENV (.*)$/gm)].flatMap(([, pairs]) =>
    pairs!.split(' ').map((pair) => pair.split('=') as [string, string])
  )
)
