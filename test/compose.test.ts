// docker-compose.yml, the Dockerfiles and .env.example, as far as they can be checked without a Docker engine.
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join, normalize } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import postgres from 'postgres'
import { parse } from 'yaml'
import { readApiConfig } from '../apps/api/config.js'
import { PACKAGE_BODY_MAX, SUBMISSION_BODY_MAX } from '../apps/api/http/body/body-limits.js'
import {
  bodyBytes,
  exportBytes,
  IMPORT_BYTES,
  memory,
  SEAL_BYTES,
  STREAM_BYTES,
  shares
} from '../apps/api/http/memory.js'
import { projectRoot } from '../apps/cli/stack/project.js'
import { readWorkerConfig } from '../apps/worker/config.js'
import { EVIDENCE_BYTES_MAX } from '../domain/capsules/capsule-size.js'

interface Service {
  image?: string
  build?: { context: string; dockerfile: string; target?: string }
  restart: string
  ports?: string[]
  networks: string[]
  volumes?: string[]
  depends_on?: Record<string, { condition: string }>
  environment?: Record<string, string | number>
  healthcheck?: { test: string[]; interval: string; timeout: string; retries: number; start_period: string }
  cpus?: number
  mem_limit?: string
  pids_limit?: number
  cap_add?: string[]
  cap_drop?: string[]
  security_opt?: string[]
  read_only?: boolean
  [key: string]: unknown
}

const read = (path: string): string => readFileSync(join(projectRoot, path), 'utf8')

const composeText = read('docker-compose.yml')
const compose = parse(composeText, { merge: true }) as {
  services: Record<string, Service>
  networks: Record<string, { internal?: boolean } | null>
  volumes: Record<string, null>
}
const services = Object.entries(compose.services)
const isOneShot = (service: Service): boolean => service.restart.startsWith('on-failure')
const images = services.flatMap(([name, { build }]) => (build ? [{ name, build }] : []))
const dockerfiles = [...new Set(images.map(({ build }) => normalize(join(build.context, build.dockerfile))))]

describe.each(services)('service %s', (_name, service) => {
  test('is watched, or runs to its end', () => {
    if (isOneShot(service)) return expect(service.healthcheck).toBeUndefined()
    expect(service.healthcheck).toEqual({
      test: expect.any(Array),
      interval: expect.stringMatching(/^\d+s$/),
      timeout: expect.stringMatching(/^\d+s$/),
      retries: expect.any(Number),
      start_period: expect.stringMatching(/^\d+s$/)
    })
  })

  test('has limits of processor, memory and processes, and gains no rights', () => {
    expect(service.cpus).toBeGreaterThan(0)
    expect(service.mem_limit).toMatch(/^\d+[mg]$/)
    expect(service.pids_limit).toBeGreaterThan(0)
    expect(service.security_opt).toEqual(['no-new-privileges:true'])
    expect(service.privileged).toBeUndefined()
  })

  test('uses a pinned image', () => {
    expect(service.image).toMatch(/^[a-z0-9/-]+:\d+\.\d+(\.\d+)?(-[a-z]+)?(@sha256:[0-9a-f]{64})?$/)
  })

  test('publishes ports on this machine only', () => {
    for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:\$\{[A-Z_]+:-\d+\}:\d+$/)
  })

  test('waits for services that exist, in a state that they can reach', () => {
    for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
      const target = compose.services[other]
      if (!target) throw new Error(`no service is called ${other}`)
      if (condition === 'service_healthy') expect(target.healthcheck).toBeDefined()
      else if (condition === 'service_completed_successfully') expect(isOneShot(target)).toBe(true)
      else expect(condition).toBe('service_started')
    }
  })

  test('names networks, volumes and files that there are', () => {
    expect(service.networks.filter((name) => !(name in compose.networks))).toEqual([])
    for (const volume of service.volumes ?? []) {
      const [source, target] = volume.split(':') as [string, string]
      expect(target).toMatch(/^\//)
      expect(volume).not.toContain('docker.sock')
      if (!source.startsWith('.')) expect(compose.volumes).toHaveProperty([source])
      else expect(existsSync(join(projectRoot, source))).toBe(true)
    }
  })

  test('uses only keys that Compose knows', () => {
    expect(Object.keys(service).filter((key) => !composeKeys.has(key))).toEqual([])
  })
})

/** The part of the Compose specification that this file uses; a misspelt key would be ignored by some engines. */
const composeKeys = new Set(
  (
    'build cap_add cap_drop command cpus depends_on entrypoint environment healthcheck image init logging mem_limit ' +
    'networks pids_limit ports read_only restart security_opt shm_size stop_grace_period tmpfs user volumes'
  ).split(' ')
)

test('the executor has the memory, the processes and the time to stop that its runs can take', () => {
  const { environment, mem_limit, pids_limit, tmpfs, stop_grace_period } = compose.services.executor!
  const source = read('apps/executor/qjs_executor/job.py')
  const constant = (name: string) => Number(new RegExp(`^${name} = (\\d+)( \\* GIB)?$`, 'm').exec(source)![1])
  const slots = Number(/^\$\{EXECUTOR_SLOTS:-(\d+)\}$/.exec(String(environment!.EXECUTOR_SLOTS))![1])
  const runs = slots + constant('KEPT_SLOTS')
  const memory =
    runs * Number(environment!.EXECUTOR_MEMORY_GIB) + constant('PARKED_BYTES_MAX') + constant('EXECUTOR_BYTES')
  expect(mem_limit).toBe(`${memory}g`)
  // Up to 64 processes and their guard; and those of the executor itself.
  expect(pids_limit).toBeGreaterThanOrEqual((runs + constant('PARKED_MAX')) * 65 + 100)
  // Within EXECUTOR_BYTES, and with a bound of files too.
  expect(tmpfs).toEqual([expect.stringMatching(/^\/tmp:size=1g,nr_inodes=\d+,/)])
  expect(Number.parseInt(String(stop_grace_period), 10)).toBeGreaterThan(
    Number(environment!.EXECUTOR_DRAIN_SECONDS) + 10
  )
})

test('the api has the memory that its code allows itself, added up', () => {
  const sum = Object.values(memory).reduce((all, bytes) => all + bytes, 0)
  expect(compose.services.api!.mem_limit).toBe(`${sum / 1024 ** 2}m`)
  // No single piece needs more than one caller's share, and another caller always finds room.
  const bodies = [bodyBytes(SUBMISSION_BODY_MAX, true), bodyBytes(PACKAGE_BODY_MAX, false), STREAM_BYTES]
  expect(Math.max(...bodies)).toBeLessThanOrEqual(shares.transfers)
  const packages = [IMPORT_BYTES, SEAL_BYTES, exportBytes(EVIDENCE_BYTES_MAX)]
  expect(Math.max(...packages)).toBeLessThanOrEqual(shares.packages)
  expect(2 * shares.transfers).toBeLessThanOrEqual(memory.transfers)
  expect(2 * shares.packages).toBeLessThanOrEqual(memory.packages)
})

/** Of a part that most installations do not have. */
const optionalSecrets = ['CONTENT_STORE_ACCESS_KEY_ID', 'CONTENT_STORE_SECRET_ACCESS_KEY']

test('every secret comes from outside and has no default', () => {
  const uses = [...composeText.matchAll(/\$\{([A-Z_]+)([^}]*)\}/g)].map(([, name, rest]) => ({
    name: name!,
    rest: rest!
  }))
  const secrets = uses.filter(({ name }) => /PASSWORD|TOKEN|SECRET|KEY/.test(name))
  expect(secrets.length).toBeGreaterThan(5)
  for (const { name, rest } of secrets)
    expect(`${name}${rest}`).toBe(optionalSecrets.includes(name) ? `${name}:-` : `${name}:?set it in .env`)
  // What looks like a secret is one of those.
  for (const [, { environment = {} }] of services)
    for (const [name, value] of Object.entries(environment))
      if (
        /PASSWORD|PWD|TOKEN|AUTH$|SECRET/.test(name) &&
        name !== 'TEMPORAL_ALLOW_NO_AUTH' &&
        !optionalSecrets.includes(name)
      )
        expect(`${name}=${value}`).toMatch(/=\$\{[A-Z_]+:\?set it in \.env\}$/)
})

test('.env.example describes every variable, each used, and holds no secret', () => {
  const used = new Set([...composeText.matchAll(/\$\{([A-Z_]+)/g)].map(([, name]) => name))
  const example = read('.env.example').split('\n')
  const isSetting = (line: string) => /^#?[A-Z_]+=/.test(line)
  const lines = example.filter(isSetting)
  expect(lines.map((line) => line.replace(/^#|=.*$/g, '')).sort()).toEqual([...used].sort())
  // Each setting stands below its description.
  for (const [at, line] of example.entries()) if (isSetting(line)) expect(example[at - 1]).toMatch(/^# .*[.:]$/)
  const isRequired = (line: string) =>
    /PASSWORD|TOKEN|SECRET/.test(line) && !optionalSecrets.some((name) => line.includes(name))
  for (const line of lines.filter(isRequired)) expect(line).toMatch(/^[A-Z_]+=$/)
  for (const line of lines.filter((line) => !isRequired(line))) {
    const [, name, value] = /^#([A-Z_]+)=(.*)$/.exec(line) ?? []
    expect(composeText).toContain(`\${${name}:-${value}}`)
  }
  expect(read('.gitignore').split('\n')).toContain('.env')
})

test('only the executor keeps rights, and the fewest with which a run gets a user of its own', () => {
  for (const [name, service] of services) {
    if (name !== 'postgres') expect([name, service.cap_drop]).toEqual([name, ['ALL']])
    if (name !== 'executor') expect([name, service.cap_add]).toEqual([name, undefined])
  }
  const { executor } = compose.services
  expect(executor!.cap_add).toEqual(['SETUID', 'SETGID', 'SETPCAP', 'CHOWN', 'KILL', 'DAC_OVERRIDE'])
  expect(executor!.environment!.EXECUTOR_ISOLATION).toBe('uid')
  for (const name of ['api', 'worker', 'executor']) expect(compose.services[name]!.read_only).toBe(true)
})

test('the executor has no way out, and shares its network with api and worker alone', () => {
  expect(compose.services.executor!.networks).toEqual(['sandbox'])
  expect(compose.networks.sandbox).toEqual({ internal: true })
  expect(compose.networks.data).toEqual({ internal: true })
  const members = services.filter(([, service]) => service.networks.includes('sandbox')).map(([name]) => name)
  expect(members.sort()).toEqual(['api', 'executor', 'worker'])
  expect(compose.services.executor!.ports).toBeUndefined()
})

test('api and worker accept the configuration that they are given, and need the keys of stored credentials', () => {
  const apiEnv = environmentOf('api')
  const workerEnv = environmentOf('worker')
  const api = readApiConfig(apiEnv)
  const worker = readWorkerConfig(workerEnv)
  expect(api).toMatchObject({ host: '0.0.0.0', port: 3000, publicUrl: null, codesNeeded: true })
  expect(worker).toMatchObject({ workflowBundle: '/app/dist/workflows.js', healthPort: 3001 })
  for (const url of [api.database.url, apiEnv.REDIS_URL!, apiEnv.EXECUTOR_URL!]) {
    expect(Object.keys(compose.services)).toContain(new URL(url).hostname)
    expect(new URL(url).href).not.toContain('$')
  }
  // By name, so that each executor of `--scale executor=2` is used.
  expect(api.executors).toEqual({
    fixed: [],
    names: [{ host: 'executor', port: Number(environmentOf('executor').EXECUTOR_PORT) }]
  })
  expect(worker.executors).toEqual(api.executors)
  for (const ring of [api.keyRing, worker.keyRing]) expect(ring?.keyIds).toEqual(['k1'])
  expect(() => readApiConfig({ ...apiEnv, SECRETS_KEYS: '' })).toThrow('SECRETS_KEYS is not set')
  expect(() => readWorkerConfig({ ...workerEnv, SECRETS_KEYS: '' })).toThrow('SECRETS_KEYS is not set')
  const probe = (name: string) => JSON.stringify(compose.services[name]!.healthcheck!.test)
  expect(probe('api')).toContain(':3000/readyz')
  expect(probe('worker')).toContain(`:${worker.healthPort}/readyz`)
})

/** The environment of a service's process: the image's ENV lines, then the compose file's with defaults filled in. */
function environmentOf(name: string): Record<string, string> {
  const { build, environment = {} } = compose.services[name]!
  const env: Record<string, string> = {}
  for (const line of imageInstructions(build!).filter((line) => line.startsWith('ENV ')))
    for (const pair of line.split(' ').slice(1)) env[pair.split('=')[0]!] = pair.slice(pair.indexOf('=') + 1)
  for (const [key, value] of Object.entries(environment))
    env[key] = String(value)
      .replace(/\$\{[A-Z_]+:-([^}]*)\}/g, '$1')
      .replace(/\$\{[A-Z_]+:\?[^}]*\}/g, 'a-secret-from-outside')
  if (env.SECRETS_KEYS) env.SECRETS_KEYS = `k1:${randomBytes(32).toString('base64')}`
  return env
}

test('Temporal is set up alike in Docker and by npm start', () => {
  const local = read('apps/cli/stack/parts/temporal.ts')
  const attributes = /searchAttributes = \[(.*)\]/.exec(local)![1]!.replace(/[',]/g, '')
  expect(read('deploy/temporal/namespace.sh')).toContain(`for name in ${attributes}; do`)
  const entries = [...local.matchAll(/'((?:history|system|matching)\.\w+)=(\w+)'/g)].map(([, key, value]) => [
    key,
    value
  ])
  const dynamic = parse(read('deploy/temporal/dynamic-config.yaml')) as Record<string, { value: unknown }[]>
  expect(Object.entries(dynamic).map(([key, [entry]]) => [key, String(entry!.value)])).toEqual(entries)
})

test('the scripts of the deployment are scripts that a plain shell can read', () => {
  for (const script of ['postgres/roles.sh', 'temporal/schema.sh', 'temporal/namespace.sh']) {
    const path = join(projectRoot, 'deploy', script)
    expect(statSync(path).mode & 0o111).toBe(0o111)
    execFileSync('sh', ['-n', path])
  }
})

test("Postgres is set up with a role for the service and one for Temporal, and neither reaches the other's databases", async () => {
  const script = read('deploy/postgres/roles.sh')
  const [, statements = ''] = /<<'SQL'\n(.*)\nSQL\n/s.exec(script) ?? []
  const mark = randomBytes(3).toString('hex')
  const named = (name: string) => `${name}_${mark}`
  const server = postgres(process.env.TEST_PG_URL!, { max: 1, onnotice: () => {} })
  const databases = ['qjs', 'temporal', 'temporal_visibility'].map(named)
  try {
    for (const line of statements.split('\n').filter((text) => !/^(\\|--)/.test(text)))
      await server.unsafe(
        line
          .replace(/:'(\w+)'/, "'a password'")
          .replace(
            /(role|database|owner) (qjs|temporal_visibility|temporal)\b/g,
            (_all, what, name) => `${what} ${named(name)}`
          )
      )
    const reaches = await server<{ role: string; name: string; reaches: boolean }[]>`
      select role, datname as name, has_database_privilege(role, datname, 'connect') as reaches
      from pg_database, unnest(${[named('qjs'), named('temporal')]}::text[]) as role
      where datname = any(${databases}::text[]) order by role, datname`
    expect(reaches.filter((one) => one.reaches).map(({ role, name }) => [role, name])).toEqual([
      [named('qjs'), named('qjs')],
      [named('temporal'), named('temporal')],
      [named('temporal'), named('temporal_visibility')]
    ])
    expect(reaches).toHaveLength(6)
  } finally {
    for (const name of databases) await server.unsafe(`drop database if exists ${name}`)
    for (const name of ['qjs', 'temporal'].map(named)) await server.unsafe(`drop role if exists ${name}`)
    await server.end({ timeout: 5 })
  }
})

interface Stage {
  /** An image with its digest, or the name of an earlier stage. */
  from: string
  name: string
  instructions: string[]
}

function stagesOf(dockerfile: string): Stage[] {
  const lines = read(dockerfile)
    .replace(/^\s*#.*\n/gm, '')
    .replace(/\\\n/g, ' ')
    .split('\n')
    .filter(Boolean)
  const stages: Stage[] = []
  for (const line of lines) {
    const [, from, name = ''] = /^FROM (\S+)(?: AS (\S+))?$/.exec(line) ?? []
    if (from) stages.push({ from, name, instructions: [] })
    else stages.at(-1)!.instructions.push(line)
  }
  return stages
}

/** What makes the image of a target (the last stage without one): its instructions after those of the stages below it. */
function imageInstructions({ dockerfile, target }: NonNullable<Service['build']>): string[] {
  const stages = stagesOf(dockerfile)
  const chain = (stage: Stage | undefined): string[] =>
    stage ? [...chain(stages.find(({ name }) => name === stage.from)), ...stage.instructions] : []
  const last = target ? stages.find(({ name }) => name === target) : stages.at(-1)
  if (!last) throw new Error(`${dockerfile} has no target ${target}`)
  return chain(last)
}

describe.each(dockerfiles)('%s', (dockerfile) => {
  const stages = stagesOf(dockerfile)

  test('builds on one image, pinned by version and digest', () => {
    const outside = stages.filter(({ from }) => !stages.some(({ name }) => name === from))
    expect(outside.map(({ from }) => from)).toEqual([
      expect.stringMatching(/^(node:24|python:3)\.\d+\.\d+[a-z-]*@sha256:[0-9a-f]{64}$/)
    ])
  })

  test('copies only what exists and what .dockerignore lets through', () => {
    const copies = stages.flatMap(({ instructions }) => instructions.filter((line) => line.startsWith('COPY ')))
    for (const copy of copies) {
      const words = copy.split(/\s+/).slice(1)
      if (words[0] === '--from=build') continue
      for (const source of words.slice(0, -1)) {
        expect([source, existsSync(join(projectRoot, source))]).toEqual([source, true])
        expect([source, isIgnored(source)]).toEqual([source, false])
      }
    }
    expect(copies.length).toBeGreaterThan(1)
  })
})

describe.each(images)('the image of $name', ({ name, build }) => {
  const instructions = imageInstructions(build)

  test('ends as a user without rights, but for the executor, which needs a few', () => {
    const user = instructions.filter((line) => line.startsWith('USER ')).at(-1)
    expect(user).toBe(name === 'executor' ? 'USER root' : 'USER node')
  })

  test('carries the licence, and no compiler or test tool of the build stage', () => {
    expect(instructions.filter((line) => /^COPY LICENSE /.test(line))).toHaveLength(1)
    expect(instructions.filter((line) => /npm install|pip install/.test(line))).toEqual([])
  })

  test('carries the programs that it runs, and nothing else of what is built', () => {
    const copies = instructions.filter((line) => line.startsWith('COPY '))
    const built = copies.flatMap((line) => [...line.matchAll(/ \/app\/dist\/?(\S*)/g)].map(([, path]) => path!))
    const programs: Record<string, string[]> = {
      api: ['services', 'apps/api', 'apps/cli', 'console'],
      worker: ['services', 'apps/worker', 'workflows.js', 'workflows-traced.js'],
      executor: []
    }
    expect(built).toEqual(programs[name])
  })

  test('carries the version of the package', () => {
    expect(compose.services[name]!.image).toBe(
      `quantum-job-service/${name}:${JSON.parse(read('package.json')).version}`
    )
  })
})

test('every source that the bundles are made of goes to the builder, and nothing else does', () => {
  const needed = [
    'LICENSE',
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'tools/build.mjs',
    'apps/api/server.ts'
  ]
  needed.push('db/migrations/meta/_journal.json', 'workflows/index.ts', 'apps/executor/requirements.txt')
  expect(needed.filter(isIgnored)).toEqual([])
  const private_ = [
    '.env',
    '.git/config',
    '.data/keys',
    'node_modules/x',
    'dist/x',
    '.venv/x',
    'test/x',
    'apps/api/.env'
  ]
  expect(private_.filter((path) => !isIgnored(path))).toEqual([])
})

/** Docker's rule: the last pattern that matches a path or a folder above it decides. */
function isIgnored(path: string): boolean {
  let ignored = false
  for (const line of read('.dockerignore').split('\n')) {
    const pattern = line.trim().replace(/^!/, '')
    if (!pattern || pattern.startsWith('#')) continue
    const parts = path.split('/')
    const above = parts.map((_, at) => parts.slice(0, at + 1).join('/'))
    if (above.some((folder) => matches(pattern, folder))) ignored = !line.startsWith('!')
  }
  return ignored
}

function matches(pattern: string, path: string): boolean {
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*\*\/|\*/g, (star) => (star === '*' ? '[^/]*' : '(?:.*/)?'))
  return new RegExp(`^${source}$`).test(path)
}
