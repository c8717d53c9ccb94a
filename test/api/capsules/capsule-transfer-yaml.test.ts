// Capsules written by hand: YAML files, whose faults are reported with their line.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { projectRoot } from '../../../apps/cli/stack/project.js'
import { startApi, type TestApi, type TestUser } from '../../support/api/api.js'
import { bellTask, createCapsuleBench, form, made } from '../../support/capsules/capsule-bench.js'
import { bellQasm3 } from '../../support/jobs/builders.js'

type Owner = TestUser & { teamId: string }

let api: TestApi
let owner: Owner
let bench: ReturnType<typeof createCapsuleBench>

beforeAll(async () => {
  api = await startApi('capsule_transfer_yaml')
  owner = await api.signUpWithTeam()
  bench = createCapsuleBench(api, owner)
})

afterAll(() => api.close())

const upload = (text: string | Buffer, type = 'application/yaml') =>
  owner.ask('POST', '/api/capsules/upload', text, { 'content-type': type })

describe('a capsule file written by hand', () => {
  const shorter = `
name: Bell and GHZ   # a comment
description: two circuits
tags: [a, b]
max_budget_usd: 2.5
tasks:
  - name: bell
    inline_code: |
      OPENQASM 3.0;
      qubit[2] q;
      h q[0];
      cx q[0], q[1];
    backend: local
    parameters:
      shots: 100
      theta: 1.0
      phi: 2e1
      n: 2
  - name: second
    inline_code: "OPENQASM 3.0; qubit q;"
    framework: openqasm
    backend: local
`

  test.each(['application/yaml', 'text/yaml', 'application/x-yaml', 'multipart/form-data; boundary=b'])(
    'creates a draft when it is sent as %s',
    async (type) => {
      const body = type.startsWith('multipart')
        ? form([{ name: 'file', content: shorter, file: 'x.yaml' }], 'b')
        : shorter
      const after = await bench.record(made(await upload(body, type)))
      const ran = await owner.post(`/api/capsules/${after.id}/run`, { mode: 'template' })
      const [job] = await api.database.db.execute(sql`select params from jobs where id = ${ran.body.job_id}`)
      expect(job!.params).toBe('{"shots":100,"theta":1.0,"phi":20.0,"n":2}')
      expect([after.name, after.tags, after.max_budget_usd]).toEqual(['Bell and GHZ', ['a', 'b'], 2.5])
      expect(after.workflow.tasks).toMatchObject([
        { name: 'bell', framework: 'openqasm', backend: 'local', parameters: { shots: 100, theta: 1, phi: 20, n: 2 } },
        { name: 'second', parameters: {} }
      ])
    }
  )

  test('can be the example of the guide', async () => {
    const guide = readFileSync(join(projectRoot, 'docs/capsules/capsules.md'), 'utf8')
    const after = await bench.record(made(await upload(/```yaml\n([\s\S]*?)```/.exec(guide)![1]!)))
    expect(after.workflow.tasks.map(({ name }: { name: string }) => name)).toEqual(['bell', 'mirror'])
  })

  test('can have the fields of the create request, and can be JSON', async () => {
    const fields = { name: 'as JSON', workflow: { tasks: [bellTask] }, backends: ['local'], team_id: owner.teamId }
    const after = await bench.record(made(await upload(JSON.stringify(fields))))
    const same = await bench.record(made(await owner.post('/api/capsules/create', fields)))
    expect(after.definition_sha256).toBe(same.definition_sha256)
  })

  test('can name a script by its slug', async () => {
    const { slug, script_id } = (
      await owner.post('/api/scripts/upload', { name: 'By slug', script_content: bellQasm3() })
    ).body
    const after = await bench.record(
      made(
        await upload(`name: x\ntasks:\n  - {name: one, script_slug: ${slug}, backend: local, parameters: {shots: 5}}`)
      )
    )
    expect(after.workflow.tasks[0].script_id).toBe(script_id)
  })

  test.each([
    [
      'line 2: tasks[0].backend: is required',
      'name: x\ntasks:\n'.replace('\n', ' #\n').replace('tasks:\n', 'tasks: [{name: a, inline_code: "x"}]'),
      400
    ],
    [
      'line 5: tasks[1].backend: is required',
      'name: x\ntasks:\n  - {name: a, inline_code: "OPENQASM 3.0;", backend: local}\n  -\n    name: b\n    inline_code: "OPENQASM 3.0;"',
      400
    ],
    [
      'line 4: tasks[0].parameters.shots: ',
      'name: x\ntasks:\n  - {name: a, backend: local, inline_code: "OPENQASM 3.0;",\n     parameters: {shots: 0}}',
      400
    ],
    ['line 1: name: must be a string', 'name: [x]', 400],
    ['line 2: owner: is not a field of this request', 'name: x\nowner: me', 400],
    ['line 2: workflow: "tasks" holds the tasks already', 'name: x\nworkflow: {tasks: []}\ntasks: []', 400],
    [
      'line 4: tasks[0].script_id: no such script',
      'name: x\ntasks:\n  - name: a\n    script_id: 00000000-0000-4000-8000-000000000000\n    backend: local',
      404
    ],
    [
      'line 5: tasks[0].backend: no backend is called "nowhere"',
      'name: x\ntasks:\n  - name: a\n    inline_code: "OPENQASM 3.0;"\n    backend: nowhere',
      400
    ],
    [
      'line 6: tasks[0].parameters.x: no task is called "b"',
      'name: x\ntasks:\n  - name: a\n    inline_code: "OPENQASM 3.0;"\n    backend: local\n    parameters: {x: {$result: b}}',
      400
    ],
    [
      'line 2: tags: must be a list',
      `name: x\ntags: [${Array.from({ length: 11 }, (_, at) => at)
        .map((at) => `"${at}"`)
        .join(', ')}]`,
      400
    ],
    ['line 2: *x is an alias', 'name: &x y\ndescription: *x', 400],
    ['line 3: name: this key appears twice', 'name: x\ndescription: y\nname: z', 400],
    ['line 1: Unresolved tag', 'name: !!js/function x', 400],
    ['line 2: begins a second document', 'name: x\n---\nname: y', 400],
    ['line 1: a %YAML directive', '%YAML 1.1\n---\nname: x', 400],
    ['line 2: max_budget_usd: must be', 'name: x\nmax_budget_usd: 501', 400],
    ['line 1: must be a mapping', '- a\n- b', 400]
  ])('is refused with the line of its fault: %s', async (message, text, status) => {
    const answer = await upload(text)
    expect([answer.status, answer.body.error]).toEqual([status, expect.stringContaining(message)])
  })

  test.each([
    ['brackets', `a: ${'['.repeat(200_000)}`],
    ['hyphens', '- '.repeat(120_000)],
    ['keys', Array.from({ length: 20_000 }, (_, at) => `k${at}: 1`).join('\n')],
    ['closing braces', '}'.repeat(250_000)],
    ['items', `a: [${'1,'.repeat(120_000)}]`],
    ['lines', '\n'.repeat(250_000)],
    ['levels', Array.from({ length: 700 }, (_, at) => `${' '.repeat(at)}a:`).join('\n')]
  ])('of nothing but %s takes little time', async (_what, text) => {
    const before = process.cpuUsage()
    expect((await upload(text)).status).toBe(400)
    expect(process.cpuUsage(before).user).toBeLessThan(5_000_000)
  })
})
