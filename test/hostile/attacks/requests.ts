// Attacks by the number and the form of requests and connections.
import { randomBytes } from 'node:crypto'
import type { Attack } from '../attack.js'
import { aborted, type Hostile, pause, repeat, SOCKETS_MAX } from '../hostile-client.js'

const REQUESTS_PER_SECOND = 300
const DAY_MS = 24 * 60 * 60_000

let waitingJob = ''
const prepareWaitingJob = async (hostile: Hostile) => {
  const at = new Date(Date.now() + 20 * DAY_MS).toISOString()
  const circuit = { format: 'qasm3', payload: 'OPENQASM 3.0;\nqubit[1] q;\nbit[1] c;\nc = measure q;\n' }
  const id = await hostile.submit({ circuit, not_before: at })
  if (id === null) throw new Error('the job to wait for was refused')
  waitingJob = id
}

/** As many addresses as a botnet has. */
const anyAddress = (turn: number): string => `198.18.${(turn >> 8) & 255}.${turn & 255}`

/** Keeps as many connections open, each opened again when the service closes it. */
async function keepOpen(hostile: Hostile, until: AbortSignal, count: number, head: () => string): Promise<void> {
  const open = () => {
    if (until.aborted || hostile.openSockets >= SOCKETS_MAX) return
    hostile.open(head(), { reads: true, onClose: () => void pause(200, until).then(open) })
  }
  for (let opened = 0; opened < count && !until.aborted; opened++) {
    open()
    await pause(5, until)
  }
  await aborted(until)
}

const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`

const malformed: ((hostile: Hostile) => string | Buffer)[] = [
  () => randomBytes(2_000),
  () => 'GET / HTTP/9.9\r\n\r\n',
  () => `GET /api/jobs HTTP/1.1\r\nhost: x\r\n${'a: b\r\n'.repeat(5_000)}\r\n`,
  () => `GET /${'a'.repeat(100_000)} HTTP/1.1\r\nhost: x\r\n\r\n`,
  () => 'POST /api/jobs/submit HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
  (hostile) => body(hostile, '/api/jobs/submit', nested(100_000)),
  (hostile) => body(hostile, '/api/jobs/submit', `{"params":${nested(30)}${','.repeat(1_000)}}`),
  (hostile) => body(hostile, '/api/jobs/submit', '{"__proto__":{"backend":"local"},"backend":"\\ud800"}'),
  (hostile) => body(hostile, '/api/playground/run', Buffer.alloc(1_000_000, 0xff)),
  (hostile) => body(hostile, '/api/capsules/upload', `a: &a [x]\n${'b: [*a,*a,*a]\n'.repeat(1_000)}`, 'text/yaml'),
  (hostile) => body(hostile, '/api/capsules/import', randomBytes(100_000), 'application/zip'),
  (hostile) => `${hostile.head('GET', `/api/jobs/${'%00'.repeat(20)}`)}`,
  (hostile) => `${hostile.head('GET', '/api/jobs?limit=1e400&cursor=%ff%fe')}`
]

function body(hostile: Hostile, path: string, content: string | Buffer, type = 'application/json'): Buffer {
  const bytes = Buffer.from(content)
  const head = hostile.head('POST', path, { 'content-type': type, 'content-length': String(bytes.length) })
  return Buffer.concat([Buffer.from(head), bytes])
}

export const requestAttacks: Attack[] = [
  {
    name: 'streams',
    what: '400 event streams and 400 held polls of a job that starts in 20 days',
    prepare: prepareWaitingJob,
    attack: async (hostile, until) => {
      let turn = 0
      await keepOpen(hostile, until, SOCKETS_MAX, () =>
        hostile.head('GET', `/api/jobs/${waitingJob}/${turn++ % 2 ? 'events' : 'status?wait=20'}`)
      )
    }
  },
  {
    name: 'readyz',
    what: `/readyz ${REQUESTS_PER_SECOND} times a second without credentials`,
    short: true,
    attack: (hostile, until) =>
      repeat(until, { lanes: 50, perSecond: REQUESTS_PER_SECOND }, (turn) =>
        hostile.call('GET', '/readyz', undefined, { as: 'nobody', address: anyAddress(turn) })
      )
  },
  {
    name: 'guesses',
    what: 'wrong passwords, wrong access codes and sign-ups with a valid code and a taken address, from 65,536 addresses',
    attack: (hostile, until) => {
      const { email } = hostile.account
      const password = 'not the password of it'
      const requests = [
        { path: '/api/auth/sign-in', body: { email, password } },
        { path: '/api/auth/validate-code', body: { code: 'NO-SUCH-CODE' } },
        { path: '/api/auth/sign-up', body: { email, password, code: hostile.surroundings.accessCode } },
        { path: '/api/auth/forgot-password', body: { email } }
      ]
      return repeat(until, { lanes: 50, perSecond: REQUESTS_PER_SECOND }, (turn) => {
        const { path, body: sent } = requests[turn % requests.length]!
        return hostile.call('POST', path, sent, { as: 'nobody', address: anyAddress(turn) })
      })
    }
  },
  {
    name: 'refused-requests',
    what: `reads above their limit, ${REQUESTS_PER_SECOND} a second`,
    attack: (hostile, until) =>
      repeat(until, { lanes: 50, perSecond: REQUESTS_PER_SECOND }, () => hostile.call('GET', '/api/jobs?limit=100'))
  },
  {
    name: 'slow-bodies',
    what: '400 bodies of 4 MB, sent at one byte every two seconds',
    attack: async (hostile, until) => {
      const headers = { 'content-type': 'application/json', 'content-length': '4000000' }
      const dripping = new Set<ReturnType<Hostile['open']>>()
      const open = () => {
        const socket = hostile.open(`${hostile.head('POST', '/api/jobs/submit', headers)}{`, {
          reads: true,
          onClose: () => {
            dripping.delete(socket)
            void pause(200, until).then(() => until.aborted || open())
          }
        })
        dripping.add(socket)
      }
      for (let opened = 0; opened < 400 && !until.aborted; opened++) open()
      while (!until.aborted) {
        await pause(2_000, until)
        for (const socket of dripping) socket.write(' ')
      }
    }
  },
  {
    name: 'malformed',
    what: 'malformed requests and bodies of 13 kinds, 200 a second',
    attack: (hostile, until) =>
      repeat(until, { lanes: 20, perSecond: 200 }, async (turn) => {
        if (hostile.openSockets > SOCKETS_MAX / 2) return pause(50, until)
        const socket = hostile.open(malformed[turn % malformed.length]!(hostile), { reads: true })
        socket.setTimeout(5_000, () => socket.destroy())
        return null
      })
  }
]
