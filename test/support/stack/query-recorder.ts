// A way to Postgres that records the queries of the product, whatever process sends them: a proxy that reads what its clients
// send. Queries of tests are not recorded: their connections have other names.
import { connect, createServer, type Socket } from 'node:net'
import { merged, type RecordedQuery } from './recorded-queries.js'

/** The names of the product's connections begin with it. */
const PRODUCT = 'quantum-job-service'
const PROTOCOL_3 = 3 << 16
/** Those that Postgres can plan, and those that make a temporary table for them. */
const RECORDED = /^\s*(select|insert|update|delete|with|merge|values|create temp(orary)? table)\b/i
const SEVERAL = /;\s*\w/
const [PARSE, QUERY] = ['P'.charCodeAt(0), 'Q'.charCodeAt(0)]

export async function startQueryRecorder(serverUrl: string) {
  const { hostname, port } = new URL(serverUrl)
  const queries: RecordedQuery[] = []
  const known = new Set<string>()
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    const read = readMessages((query) => {
      const key = JSON.stringify(query)
      if (!known.has(key)) queries.push(query)
      known.add(key)
    })
    client.on('data', read)
    for (const [one, other] of [
      [client, upstream],
      [upstream, client]
    ] as const) {
      sockets.add(one)
      one.setNoDelay()
      one.pipe(other)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(serverUrl)
  url.port = String((server.address() as { port: number }).port)
  return {
    url: url.href,
    queries: (): RecordedQuery[] => merged(queries),
    async close(): Promise<void> {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}

/**
 * Reads one client's bytes: its first message has the name of the connection, and each Parse message a query. A query without
 * parameters is a Query message, as all statements of a migration are.
 */
function readMessages(onQuery: (query: RecordedQuery) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  let isStarted = false
  let name = ''
  return (chunk) => {
    rest = Buffer.concat([rest, chunk])
    for (;;) {
      const head = isStarted ? 1 : 0
      if (rest.length < head + 4) return
      const end = head + rest.readInt32BE(head)
      if (rest.length < end) return
      const message = rest.subarray(0, end)
      rest = rest.subarray(end)
      if (!isStarted) {
        // Others ask for TLS first, or cancel a query.
        if (message.readInt32BE(4) !== PROTOCOL_3) continue
        isStarted = true
        name = parameterOf(message, 'application_name')
      } else if (name.startsWith(PRODUCT)) {
        const query =
          message[0] === PARSE
            ? readParse(message)
            : message[0] === QUERY && name === PRODUCT
              ? readQuery(message)
              : null
        if (query && RECORDED.test(query.text) && !SEVERAL.test(query.text)) onQuery(query)
      }
    }
  }
}

function parameterOf(message: Buffer, name: string): string {
  const words = message.subarray(8).toString('utf8').split('\0')
  const at = words.findIndex((word, index) => index % 2 === 0 && word === name)
  return at < 0 ? '' : words[at + 1]!
}

const readQuery = (message: Buffer): RecordedQuery => ({
  text: message.subarray(5, message.indexOf(0, 5)).toString('utf8'),
  types: []
})

/** Of the name of the statement, its text and the types of its parameters. */
function readParse(message: Buffer): RecordedQuery {
  const start = message.indexOf(0, 5) + 1
  const end = message.indexOf(0, start)
  const count = message.readInt16BE(end + 1)
  const types = Array.from({ length: count }, (_, at) => message.readInt32BE(end + 3 + 4 * at))
  return { text: message.subarray(start, end).toString('utf8'), types }
}
