// Packages and bodies with false claims are refused at once, and nothing of them is stored.
import { createHash, randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { readPackage } from '../../../capsule-format/package-reader.js'
import { zipOf } from '../../capsule-format/hostile-archives.js'
import { startApi, type TestApi, type TestUser } from '../../support/api/api.js'
import { asForm, createCapsuleBench, form, tarEntry, tarGz } from '../../support/capsules/capsule-bench.js'
import { eventually } from '../../support/eventually.js'
import { bellQasm3 } from '../../support/jobs/builders.js'
import { longTest } from '../../support/lane.js'

type Owner = TestUser & { teamId: string }

let api: TestApi
let owner: Owner
let outsider: Owner
let bench: ReturnType<typeof createCapsuleBench>

beforeAll(async () => {
  api = await startApi('capsule_transfer_hostile')
  owner = await api.signUpWithTeam()
  outsider = await api.signUpWithTeam()
  bench = createCapsuleBench(api, owner)
})

afterAll(() => api.close())

describe('a package with false claims', () => {
  /** An exported draft with some of its content replaced. */
  // biome-ignore lint/suspicious/noExplicitAny: forgers change what they like.
  async function forged(change: (manifest: any, definition: any) => void) {
    const read = await readPackage((await bench.exported(await bench.draft())).bytes)
    const manifest = JSON.parse(read.manifestText)
    const definition = JSON.parse(read.files.find(({ name }) => name === 'definition.json')!.content.toString())
    change(manifest, definition)
    const text = JSON.stringify(definition)
    const own = manifest.extensions?.['quantum-job-service']
    if (own && own.definition_sha256 !== 'kept') own.definition_sha256 = createHash('sha256').update(text).digest('hex')
    return tarGz({ 'x/capsule.yaml': JSON.stringify(manifest), 'x/definition.json': text })
  }

  test("about its state, owner, team or costs becomes a draft of its importer's", async () => {
    const bytes = await forged((manifest) => {
      Object.assign(manifest, {
        created_by: `user:${outsider.id}`,
        team_id: outsider.teamId,
        actual_cost_usd: -5,
        exit_code: 0
      })
    })
    const { status, body } = await bench.imported(bytes)
    expect([status, body.state]).toEqual([201, 'draft'])
    const after = await bench.record(body.capsule_id)
    expect([after.team_id, after.owner_id, after.seal]).toEqual([owner.teamId, owner.id, null])
  })

  test('about a seal that it does not have is refused', async () => {
    const bytes = await forged((manifest) => {
      manifest.lifecycle_state = 'sealed'
    })
    expect((await bench.imported(bytes)).status).toBe(400)
  })

  type Change = Parameters<typeof forged>[0]
  const lies: [string, Change, string][] = [
    [
      'definition_sha256',
      (manifest) => {
        manifest.extensions['quantum-job-service'].definition_sha256 = 'kept'
      },
      'definition.json: does not match its SHA-256'
    ],
    ['a task without a backend', (_, { tasks }) => delete tasks[0].backend, 'definition.json: definition'],
    ['an unknown field', (_, { tasks }) => (tasks[0].owner = 'me'), 'definition.json: definition'],
    ['shots beyond the limit', (_, { tasks }) => (tasks[0].parameters.shots = 1e9), 'parameters.shots'],
    [
      'a prototype',
      (_, { tasks }) => (tasks[0].parameters = JSON.parse('{"__proto__":{"x":1}}')),
      '__proto__: this key is not allowed'
    ],
    [
      'a different text of its parameters',
      (_, { tasks }) => (tasks[0].parameters_text = '{"shots":2}'),
      'is not the text of the parameters'
    ],
    [
      'deep parameters',
      (_, { tasks }) => (tasks[0].parameters.x = JSON.parse('['.repeat(500) + ']'.repeat(500))),
      'is nested deeper than'
    ],
    [
      'a text of deep parameters',
      (_, { tasks }) => (tasks[0].parameters_text = '['.repeat(100_000) + ']'.repeat(100_000)),
      'is nested deeper than'
    ],
    ['a cycle of results', (_, { tasks }) => (tasks[0].parameters.x = { $result: 'bell' }), 'circle'],
    ['a lone surrogate in its name', (manifest) => (manifest.name = '\ud800'), 'capsule.yaml'],
    ['a NUL in its name', (manifest) => (manifest.name = 'a\0b'), 'NUL']
  ]

  test.each(lies)('about %s is refused with the place named', async (_what, change, message) => {
    const { status, body } = await bench.imported(await forged(change))
    expect([status, body.error]).toEqual([400, expect.stringContaining(message)])
  })

  test('about the source of a script keeps its own source, and loses the name of the script', async () => {
    const { script_id } = (await owner.post('/api/scripts/upload', { name: 'B', script_content: bellQasm3() })).body
    const bytes = await forged((_, { tasks }) => {
      tasks[0].source = {
        kind: 'script',
        script_id,
        script_version: 1,
        framework: 'openqasm',
        text: 'OPENQASM 3.0;\nqubit q;'
      }
    })
    const { body } = await bench.imported(bytes)
    expect((await bench.record(body.capsule_id)).workflow.tasks[0]).toMatchObject({
      script_id: null,
      inline_code: 'OPENQASM 3.0;\nqubit q;'
    })
  })

  test('with fields above the limits is imported with each field cut, and a warning for each', async () => {
    const bytes = await forged((manifest, definition) => {
      manifest.name = 'n'.repeat(300)
      manifest.description = 'd'.repeat(2_000)
      manifest.tags = Array.from({ length: 30 }, (_, index) => `tag ${index}`)
      manifest.max_budget_usd = 1e9
      manifest.extensions['quantum-job-service'].retention_years = 1_000
      definition.tasks[0].backend = 'no-such-backend'
      manifest.extensions['quantum-job-service'].backends = ['local', 'no-such-backend']
    })
    const { status, body } = await bench.imported(bytes)
    expect([status, body.warnings.length]).toEqual([201, 7])
    const after = await bench.record(body.capsule_id)
    expect([after.name.length, after.description.length, after.tags.length]).toEqual([200, 1_000, 10])
    expect(after.backends).toEqual(['local'])
  })

  const attacks: [string, () => Buffer][] = [
    ['no archive', () => Buffer.from('hello')],
    ['a path that leads out', () => tarGz({ 'x/capsule.yaml': 'a: 1', 'x/../../etc/passwd': 'x' })],
    ['an absolute path', () => tarGz({ 'x/capsule.yaml': 'a: 1', '/etc/passwd': 'x' })],
    ['a drive', () => tarGz({ 'x/capsule.yaml': 'a: 1', 'C:\\x': 'x' })],
    ['a symlink', () => tarGz({ 'x/capsule.yaml': 'a: 1', 'x/link': 'x' }, { 'x/link': '2' })],
    ['a device', () => tarGz({ 'x/capsule.yaml': 'a: 1', 'x/null': '' }, { 'x/null': '3' })],
    ['one name twice', () => gzipSync(Buffer.concat([tarEntry('x/a', 'x'), tarEntry('x/a', 'y'), Buffer.alloc(1024)]))],
    ['a YAML bomb', () => tarGz({ 'x/capsule.yaml': 'a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n' })],
    ['100,000 brackets', () => tarGz({ 'x/capsule.yaml': `a: ${'['.repeat(100_000)}` })],
    ['a JavaScript tag', () => tarGz({ 'x/capsule.yaml': 'a: !!js/function "x"' })],
    ['a gigabyte in gzip', () => gzipSync(Buffer.alloc(200 * 1024 * 1024))],
    ['a large file in zip', () => zipOf([{ name: 'capsule/capsule.yaml', content: Buffer.alloc(100 * 1024 * 1024) }])],
    ['a truncated gzip', () => tarGz({ 'x/capsule.yaml': 'a: 1', 'x/b': randomBytes(10_000) }).subarray(0, 5_000)],
    ['a plain tar', () => Buffer.concat([tarEntry('x/capsule.yaml', 'a: 1'), Buffer.alloc(1024)])]
  ]

  test.each(attacks)('containing %s is refused with bounded CPU time and memory', async (_what, make) => {
    const bytes = make()
    const before = process.memoryUsage().rss
    const busy = process.cpuUsage()
    const { status, body } = await bench.imported(bytes)
    expect([status, typeof body.error]).toEqual([400, 'string'])
    expect(process.cpuUsage(busy).user).toBeLessThan(5_000_000)
    expect(process.memoryUsage().rss - before).toBeLessThan(400 * 1024 * 1024)
  })

  longTest(
    'of the largest size is imported three times without leaving memory in use',
    async () => {
      const manifest = 'version: "1.0.0"\nname: large\nlifecycle_state: draft\n'
      const noise = () => randomBytes(30 * 1024 * 1024)
      const bytes = tarGz({ 'x/capsule.yaml': manifest, 'x/a': noise(), 'x/b': noise() })
      const before = process.cpuUsage()
      for (let turn = 0; turn < 3; turn++) expect((await bench.imported(bytes)).status).toBe(201)
      expect(process.cpuUsage(before).user).toBeLessThan(45_000_000)
    },
    120_000
  )

  test('with any single byte of a sealed package changed is refused, or imports with the same content', async () => {
    const id = await bench.sealed()
    const { bytes } = await bench.exported(id)
    const tar = gunzipSync(bytes)
    const digest = (await bench.record(id)).seal.capsule_digest
    const statuses = new Map<number, number>()
    for (let turn = 0; turn < 60; turn++) {
      const changed = Buffer.from(tar)
      const at = Math.floor((turn / 60) * tar.length) + 7
      changed[at] = changed[at]! ^ 1
      const { status, body } = await bench.imported(gzipSync(changed))
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      // The padding between the files has no meaning.
      if (status === 201) {
        const after = await bench.record(body.capsule_id)
        if (after.imported.capsule_digest === digest) continue
        // The identity of the manifest has changed then, so it does not pass for the sealed one.
        expect(after.derived_from).not.toBe(digest)
      } else expect(status).toBe(400)
    }
    expect(statuses.get(400)).toBeGreaterThan(10)
  }, 60_000)
})

describe('an invalid package body', () => {
  test.each([
    ['JSON', 'application/json', '{}', 415, 'Content-Type'],
    ['no type that a package has', 'text/plain', 'x', 415, 'Content-Type'],

    ['a form without a boundary', 'multipart/form-data', 'x', 400, 'body:'],
    [
      'a form cut short',
      'multipart/form-data; boundary=b',
      '--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\nabc',
      400,
      'body:'
    ],
    ['a form without a file', 'multipart/form-data; boundary=b', '--b--\r\n', 400, 'file: is required'],
    [
      'a form with a file under another name',
      'multipart/form-data; boundary=b',
      form([{ name: 'other', content: 'x', file: 'x' }], 'b').toString(),
      400,
      '"other"'
    ],
    [
      'a form with two files',
      'multipart/form-data; boundary=b',
      form(
        [
          { name: 'file', content: 'x', file: 'x' },
          { name: 'file', content: 'x', file: 'y' }
        ],
        'b'
      ).toString(),
      400,
      'holds more'
    ],
    [
      'a form with text instead of a file',
      'multipart/form-data; boundary=b',
      form([{ name: 'file', content: 'name: x' }], 'b').toString(),
      400,
      'file: has no filename'
    ],
    [
      'a form that names a prototype',
      'multipart/form-data; boundary=b',
      form([{ name: '__proto__', content: 'x' }], 'b').toString(),
      400,
      'body:'
    ]
  ])('%s', async (_what, type, body, status, message) => {
    for (const path of ['import', 'upload']) {
      const answer = await owner.ask('POST', `/api/capsules/${path}`, body, { 'content-type': type })
      expect([path, answer.status, answer.body.error]).toEqual([path, status, expect.stringContaining(message)])
    }
  })

  test('that is empty is refused', async () => {
    for (const [path, type] of [
      ['import', 'application/gzip'],
      ['upload', 'application/yaml']
    ] as const) {
      const answer = await owner.ask('POST', `/api/capsules/${path}`, '', { 'content-type': type })
      expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining('body: is empty')])
      expect((await owner.ask('POST', `/api/capsules/${path}`)).status).toBe(400)
    }
  })

  test('that breaks off gives its memory back, however many break off', async () => {
    const { port } = new URL(await api.listen())
    const head = (type: string) =>
      `POST /api/capsules/import HTTP/1.1\r\nHost: x\r\nCookie: ${owner.cookie}\r\nContent-Type: ${type}\r\nContent-Length: 10000000\r\n\r\n`
    const begun = '--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\nabc'
    // Six are being read, 50 of a caller wait for memory, and the others get 503.
    const heard: string[] = []
    const sockets = Array.from({ length: 60 }, (_, turn) => {
      const socket = connect(Number(port), '127.0.0.1')
      socket.on('error', () => {}).on('data', (text) => void heard.push(text.toString()))
      socket.write(turn % 2 ? head('application/gzip') : head('multipart/form-data; boundary=b') + begun)
      return socket
    })
    await eventually(() => heard.length === 4)
    expect(heard.map((text) => text.slice(0, 12))).toEqual(Array.from({ length: 4 }, () => 'HTTP/1.1 503'))
    // Small packages wait for none of them, not even behind slow small ones.
    const { bytes } = await bench.exported(await bench.draft())
    expect((await bench.imported(bytes)).status).toBe(201)
    const slow = Array.from({ length: 8 }, () => {
      const socket = connect(Number(port), '127.0.0.1').on('error', () => {})
      socket.write(head('application/gzip').replace('10000000', '1000'))
      return socket
    })
    expect((await bench.imported(bytes)).status).toBe(201)
    for (const socket of [...sockets, ...slow]) socket.destroy()
    const answers = await Promise.all(Array.from({ length: 20 }, () => bench.imported(bytes)))
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 201))
  })

  test('larger than its route accepts is refused', async () => {
    for (const [path, size, type] of [
      ['upload', 513 * 1024, 'application/yaml'],
      ['upload', 257 * 1024, 'application/yaml'],
      ['import', 64 * 1024 * 1024 + 1, 'application/gzip']
    ] as const) {
      const answer = await owner.ask('POST', `/api/capsules/${path}`, Buffer.alloc(size, 'a'), { 'content-type': type })
      expect([path, answer.status]).toEqual([path, 413])
      const inForm = form([{ name: 'file', content: Buffer.alloc(size, 'a'), file: 'x' }], 'b')
      expect((await owner.ask('POST', `/api/capsules/${path}`, inForm, asForm('b'))).status).toBe(413)
    }
  })
})
