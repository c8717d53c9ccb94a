// `qjob` under failure: wrong usage, no service, or a server that is not this service.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eventually } from '../support/eventually.js'
import { Shell } from './qjob.js'

const id = '01a1fdb6-9b8b-7716-8ef2-8ab24a008b25'
let shell: Shell
const servers: Server[] = []

beforeAll(() => {
  shell = new Shell({ QJOB_URL: 'http://127.0.0.1:1' })
})

afterAll(() => {
  shell.remove()
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
})

/** A server with responses of its own, for those that the product's api never sends. */
async function served(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(answer)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test.each([
  [['frobnicate'], "unknown command 'frobnicate'"],
  [['submit'], "missing required argument 'file'"],
  [['submit', 'x.qasm', '--shots', '1.5'], 'It must be a whole number.'],
  [['submit', 'x.qasm', '--mode', 'fast'], 'Allowed choices are direct, temporal.'],
  [['submit', 'x.qasm', '--max-cost', 'lots'], 'It must be an amount of USD, such as 2.50.'],
  [['submit', 'missing.qasm'], 'missing.qasm: cannot be read (ENOENT)'],
  [['submit', '.'], '.: cannot be read (EISDIR)'],
  [['submit', '-'], 'standard input: must not be empty'],
  [['job', 'not-an-id'], '"not-an-id" is not the id of a job: qjob jobs lists them'],
  [['job', id, '--result', '--attempts'], 'cannot be used with'],
  [['jobs', '--status', 'done'], 'Allowed choices are pending'],
  [['jobs', '--url', 'localhost:3000'], '--url: must be an address such as https://jobs.example.org'],
  [['jobs', '--key', ''], '--key: must be an API key'],
  [['jobs', '--key', 'marqey_live_\n'], '--key: must be an API key'],
  [['login', 'a@example.org', '--key', 'x'], "unknown option '--key'"],
  [['login'], "missing required argument 'email'"],
  [['login', 'a@example.org'], 'no password: set QJOB_PASSWORD'],
  [['admin', 'create-code', '--uses', '0'], 'It must be a whole number from 1 to 1000000.'],
  [['admin', 'create-code', '--code', 'two words'], 'It must have 1 to 64 letters, digits, hyphens or underscores.'],
  [['admin', 'create-code', '--expires', '2020-01-01T00:00:00Z'], 'It must be in the future.'],
  [['admin', 'create-code', '--expires', 'tomorrow'], 'It must be an ISO 8601 time']
])('%j is wrong use: 2, and the reason on stderr', async (args, reason) => {
  const { code, stdout, stderr } = await shell.run(args)
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toContain(reason)
})

test('a file that does not match its options is refused before any request', async () => {
  const cases: [file: string, args: string[], reason: string][] = [
    [shell.file('latin1.py', Buffer.from([0x23, 0xe4])), [], 'must be UTF-8 text'],
    [shell.file('huge.qasm', 'OPENQASM 3.0;'.padEnd(4 * 1024 * 1024 + 1)), [], 'must be at most 4 MiB'],
    [shell.file('bare.qasm', 'h q;'), [], 'must begin with OPENQASM 2.0; or OPENQASM 3.0;'],
    [shell.file('slashes.qasm', '/'.repeat(1_000_000)), [], 'must begin with OPENQASM'],
    [shell.file('ok.qasm', 'OPENQASM 3.0;'), ['--framework', 'qiskit'], 'is OpenQASM'],
    [shell.file('ok.qasm', 'OPENQASM 3.0;'), ['--param', 'shots=5'], 'use --shots'],
    [
      shell.file('ok.qasm', 'OPENQASM 3.0;'),
      ['--param', 'a=1', '--param', 'a=2'],
      '--param a: must be given only once'
    ],
    [shell.file('ok.qasm', 'OPENQASM 3.0;'), ['--param', 'theta'], 'must be NAME=VALUE']
  ]
  for (const [file, args, reason] of cases) {
    const { code, stderr } = await shell.run(['submit', file, ...args])
    expect([file, code]).toEqual([file, 2])
    expect(stderr).toContain(reason)
  }
}, 180_000)

test('requested help exits with 0 and goes to stdout', async () => {
  const { code, stdout, stderr } = await shell.run(['submit', '--help'])
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toContain('--shots <n>')
})

test('without a service: exit code 3, the address and a remedy, with --json also on stdout', async () => {
  const { code, stdout, stderr } = await shell.run(['backends', '--json', '--url', 'http://127.0.0.1:2'])
  expect(code).toBe(3)
  expect(stderr).toMatch(/^qjob: http:\/\/127\.0\.0\.1:2 does not respond \(ECONNREFUSED\): start it with npm start, /)
  expect(JSON.parse(stdout).error).toMatchObject({ exit_code: 3, message: stderr.slice('qjob: '.length).trim() })
})

test('without a database, admin commands exit with 3, whether none is configured or none responds', async () => {
  const none = await shell.run(['admin', 'create-code'])
  expect([none.code, none.stderr]).toEqual([3, expect.stringContaining('no database: start the service (npm start)')])
  const away = await shell.run(['admin', 'create-code'], '', { DATABASE_URL: 'postgres://u:secret@127.0.0.1:2/x' })
  expect(away.code).toBe(3)
  expect(away.stderr).toContain('the database at 127.0.0.1:2 does not respond (ECONNREFUSED)')
  expect(away.stderr).not.toContain('secret')
})

test('a server that is not this service is distinguished from one that refuses', async () => {
  const page = await served((_request, response) => response.setHeader('content-type', 'text/html').end('<html>'))
  const moved = await served((_request, response) => response.writeHead(302, { location: `${page}/` }).end())
  for (const url of [page, moved]) {
    const { code, stderr } = await shell.run(['backends', '--url', url])
    expect(code).toBe(3)
    expect(stderr).toContain('but not like this service: check --url and QJOB_URL')
  }
})

test('a read survives two lost connections; a write is sent at most three times, with one key', async () => {
  let reads = 0
  const keys: unknown[] = []
  const url = await served((request, response) => {
    if (request.method === 'POST') {
      keys.push(request.headers['idempotency-key'])
      request.socket.destroy()
    } else if (++reads < 3) request.socket.destroy()
    else response.end('{"backends":[]}')
  })
  expect(await shell.run(['backends', '--json', '--url', url])).toEqual({
    code: 0,
    stdout: '{"backends":[]}\n',
    stderr: ''
  })
  expect(reads).toBe(3)
  const submitted = await shell.run(['submit', '-', '--url', url], 'OPENQASM 3.0;')
  expect([submitted.code, keys]).toEqual([3, [expect.stringMatching(/^[0-9a-f-]{36}$/), keys[0], keys[0]]])
  expect(submitted.stderr).toContain('The request may have been carried out: check before you repeat it.')
})

test('a write survives a proxy that lost the service, and is not repeated after an error or a refusal', async () => {
  const statuses = [502, 503, 201]
  const keys = new Set<unknown>()
  const url = await served((request, response) => {
    keys.add(request.headers['idempotency-key'])
    const status = statuses.shift()!
    response.writeHead(status).end(status === 201 ? `{"job_id":"${id}"}` : '<html>bad gateway</html>')
  })
  expect(await shell.run(['submit', '-', '--url', url], 'OPENQASM 3.0;')).toMatchObject({ code: 0 })
  expect([statuses, keys.size]).toEqual([[], 1])
  for (const [status, code] of [
    [500, 3],
    [409, 4]
  ] as const) {
    let writes = 0
    const refusing = await served((_request, response) => {
      writes++
      response.writeHead(status).end('{"error":"no"}')
    })
    expect((await shell.run(['submit', '-', '--url', refusing], 'OPENQASM 3.0;')).code).toBe(code)
    expect(writes).toBe(1)
  }
})

test('a rate limit is waited for as long as the service says, and the write is sent again under its key', async () => {
  const keys: unknown[] = []
  const url = await served((request, response) => {
    keys.push(request.headers['idempotency-key'])
    if (keys.length < 3) response.writeHead(429, { 'retry-after': '1' }).end('{"error":"Slow down \\u001b[2J."}')
    else response.writeHead(201).end(`{"job_id":"${id}"}`)
  })
  const began = Date.now()
  const { code, stdout, stderr } = await shell.run(['submit', '-', '--json', '--url', url], 'OPENQASM 3.0;')
  expect([code, stdout]).toEqual([0, `{"job_id":"${id}"}\n`])
  const waits = 'Slow down �[2J. Waiting for 1 s; Ctrl-C stops.\n'.repeat(2)
  expect(stderr).toBe(`${waits}page: ${url}/jobs/${id}\n`)
  expect(Date.now() - began).toBeGreaterThanOrEqual(2_000)
  expect([keys.length, new Set(keys).size]).toEqual([3, 1])
})

test('a limit whose wait would be long is reported at once, and Ctrl-C ends a wait', async () => {
  let seconds = 86_400
  const url = await served((_request, response) =>
    response.writeHead(429, { 'retry-after': String(seconds) }).end('{"error":"Rate limit exceeded."}')
  )
  const refused = await shell.run(['submit', '-', '--url', url], 'OPENQASM 3.0;')
  expect(refused).toEqual({ code: 4, stdout: '', stderr: 'qjob: Rate limit exceeded.\n' })
  seconds = 100
  const run = shell.start(['jobs', '--url', url])
  await eventually(() => run.output.stderr.includes('Waiting for 100 s'))
  run.signal('SIGINT')
  expect((await run.ended).stdout).toBe('')
})

test('a sign-in is sent only once, because it has no Idempotency-Key', async () => {
  const keys: unknown[] = []
  const url = await served((request) => {
    keys.push(request.headers['idempotency-key'])
    request.socket.destroy()
  })
  const { code } = await shell.run(['login', 'ada@example.org', '--url', url], 'correct horse\n')
  expect([code, keys]).toEqual([3, [undefined]])
})

test('an internal error of the service exits with 3 and names the request for its log', async () => {
  const url = await served((_request, response) => {
    response.writeHead(500, { 'x-request-id': 'r-1' }).end('{"error":"Internal server error"}')
  })
  const { code, stderr } = await shell.run(['submit', '-', '--url', url], 'OPENQASM 3.0;')
  expect([code, stderr]).toEqual([3, 'qjob: the service failed: Internal server error (request r-1)\n'])
})

test('integers beyond 2^53 are preserved in both directions', async () => {
  let body = ''
  const record = `{"id":"${id}","status":"completed" , "result": {"a":{"b}":"\\"]"},"big":9007199254740993, "list":[1]}}`
  const url = await served((request, response) => {
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => response.end(request.method === 'POST' ? `{"job_id":"${id}"}` : record))
  })
  await shell.run(['submit', '-', '--param', 'n=9007199254740993', '--url', url], 'OPENQASM 3.0;')
  expect(body).toMatch(/"params":\{"shots":1024,"n":9007199254740993\}\}$/)
  expect((await shell.run(['job', id, '--json', '--url', url])).stdout).toBe(`${record}\n`)
  const result = await shell.run(['job', id, '--result', '--json', '--url', url])
  expect(result.stdout).toBe('{"a":{"b}":"\\"]"},"big":9007199254740993, "list":[1]}\n')
})

test('at most twenty outcomes are drawn, the most frequent first, and the others are counted', async () => {
  const counts: Record<string, number> = {}
  for (let n = 0; n < 32; n++) counts[n.toString(2).padStart(5, '0')] = n + 1
  const url = await served((_request, response) =>
    response.end(JSON.stringify({ id, status: 'completed', result: { counts, shots: 528 } }))
  )
  const lines = (await shell.run(['job', id, '--result', '--url', url])).stdout.trimEnd().split('\n')
  expect(lines).toHaveLength(22)
  expect(lines[1]).toBe(`11111  ${'█'.repeat(40)}  32    6.1 %`)
  expect(lines[20]).toMatch(/^01100 +█{16} +13 +2\.5 %$/)
  expect(lines[21]).toBe('and 12 more outcomes with 78 of 528 shots (--json shows all)')
})

test('a password sent to a remote service without encryption causes a warning', async () => {
  const { stderr } = await shell.run(['login', 'a@example.org', '--url', 'http://service.invalid'], 'a password\n')
  expect(stderr).toContain('warning: the password travels to http://service.invalid unencrypted; use https')
})

test('a reader that stops early is not a failure', async () => {
  const text = `{"backends":[${'{},'.repeat(100_000)}{}]}`
  const url = await served((_request, response) => response.end(text))
  const run = shell.start(['backends', '--json', '--url', url])
  run.closeOutput()
  expect(await run.ended).toEqual({ code: 0, stdout: '', stderr: '' })
})
