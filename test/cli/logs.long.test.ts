// `qjob logs`: what a program prints, while it runs and afterwards.
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eventually } from '../support/eventually.js'
import { type Shell, startService } from './qjob.js'
import { signedUp } from './signed-up.js'

const CIRCUIT = 'from qiskit import QuantumCircuit\ncircuit = QuantumCircuit(1)\n'
/** Each line is one write: the program can be stopped between two. */
const COUNTS =
  'import itertools, time\nfor n in itertools.count():\n    print(f"line {n}\\n", end="")\n    time.sleep(0.05)\n'

let service: Awaited<ReturnType<typeof startService>>
let ada: Shell

beforeAll(async () => {
  service = await startService('logs')
  ada = await signedUp(service, 'ada@example.org')
}, 120_000)

afterAll(async () => {
  ada?.remove()
  await service?.close()
})

async function submit(code: string): Promise<string> {
  const { code: exit, stdout, stderr } = await ada.run(['submit', '-', '--framework', 'qiskit', '--json'], code)
  expect([exit, stderr]).toEqual([0, expect.stringMatching(/^page: .*\n$/)])
  return JSON.parse(stdout).job_id
}
const linesUpTo = (last: number): string => Array.from({ length: last + 1 }, (_, n) => `line ${n}\n`).join('')

test('qjob logs --follow prints each line once while the job runs, and its exit code follows the status', async () => {
  const id = await submit(COUNTS)
  const run = ada.start(['logs', id, '--follow'])
  await eventually(() => run.output.stdout.includes('line 3\n'))
  expect((await ada.run(['cancel', id, '--wait'])).code).toBe(0)
  const { code, stdout, stderr } = await run.ended
  const last = stdout.split('\n').length - 2
  expect([code, stdout, stderr]).toEqual([1, linesUpTo(last), ''])
  expect(await ada.run(['logs', id])).toEqual({ code: 0, stdout, stderr: '' })
}, 120_000)

test('a connection that breaks off is opened again without loss and without repetition', async () => {
  const id = await submit(COUNTS)
  const proxy = await breakingProxy(service.url)
  const env = { QJOB_KEY: '' }
  const session = await ada.run(['login', 'ada@example.org', '--url', proxy.url], 'correct horse battery\n', env)
  expect(session.code).toBe(0)
  const run = ada.start(['logs', id, '--follow', '--url', proxy.url])
  await eventually(() => proxy.streams() >= 2 && run.output.stdout.split('\n').length > 10)
  await ada.run(['cancel', id, '--wait'])
  const { stdout, stderr } = await run.ended
  expect(stdout).toBe(linesUpTo(stdout.split('\n').length - 2))
  expect(stderr).toContain('trying again')
  await proxy.close()
}, 120_000)

test('control characters of a program reach no terminal, and a file only with --raw', async () => {
  const id = await submit(`print("\\x1b[31mred\\x1b[0m\\r50 %\\r\\n")\n${CIRCUIT}`)
  expect(await ada.run(['logs', id, '--follow'])).toEqual({ code: 0, stdout: '�[31mred�[0m\n50 %\n\n', stderr: '' })
  expect((await ada.run(['logs', id, '--raw'])).stdout).toBe('\u001b[31mred\u001b[0m\r50 %\r\n\n')
  const { output } = JSON.parse((await ada.run(['logs', id, '--json'])).stdout) as { output: { text: string }[] }
  expect(output[0]).toMatchObject({ type: 'output', attempt: 1, offset: 0 })
  expect(output.map(({ text }) => text).join('')).toBe('\u001b[31mred\u001b[0m\r50 %\r\n\n')
  const refused = await ada.onTerminal(['logs', id, '--raw'], '', '')
  expect(refused.stdout).toContain('--raw: control characters of a program')
})

test('what was cut is counted on stderr, and an unknown job is refused', async () => {
  const id = await submit(`for _ in range(2_000): print("x" * 99)\n${CIRCUIT}`)
  const { code, stdout, stderr } = await ada.run(['logs', id, '--follow'])
  expect([code, stdout.length]).toEqual([0, 64 * 1024])
  expect(stderr).toBe('attempt 1 printed 134,464 bytes more, which are not kept\n')
  expect((await ada.run(['logs', 'none'])).code).toBe(2)
  expect((await ada.run(['logs', '01890000-0000-7000-8000-000000000000'])).code).toBe(4)
})

/** Forwards requests, and breaks off the first stream of events after its first output. */
async function breakingProxy(to: string) {
  let streams = 0
  const server: Server = createServer((incoming, outgoing) => {
    const breaks = incoming.url!.endsWith('/events') && ++streams === 1
    const target = { method: incoming.method, headers: incoming.headers }
    const forwarded = request(`${to}${incoming.url}`, target, (response) => {
      outgoing.writeHead(response.statusCode!, response.headers)
      response.on('data', (chunk: Buffer) => {
        outgoing.write(chunk, () => {
          if (breaks && chunk.includes('event: output')) outgoing.destroy()
        })
      })
      response.on('end', () => outgoing.end())
    })
    outgoing.on('close', () => forwarded.destroy())
    forwarded.on('error', () => outgoing.destroy())
    incoming.pipe(forwarded)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    streams: () => streams,
    async close(): Promise<void> {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}
