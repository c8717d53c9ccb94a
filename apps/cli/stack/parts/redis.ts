// Redis: the direct queue and the rate limits. All of it can be rebuilt from Postgres.
import { connect } from 'node:net'
import { partBinary } from '../project.js'
import { type Child, type StackContext, spawnChild, untilHealthy } from './child.js'
import { onPort } from './free-port.js'

export interface RedisOptions {
  /** Folder of the append-only file; null keeps everything in memory. */
  dataDir: string | null
  password: string
  port?: number
}

export type Redis = Child & { url: string; port: number }

/** Starts redis-server on the loopback address; resolves when it responds to PING. */
export function startRedis(options: RedisOptions, context: StackContext): Promise<Redis> {
  return onPort(options.port, async (port) => {
    const child = await spawnChild(context, {
      name: 'redis',
      command: partBinary('redis'),
      args: ['-'],
      // Passed on standard input, because every user of the machine can read arguments.
      input: configuration(options, port),
      env: { PATH: process.env.PATH, LC_ALL: 'C' },
      cwd: options.dataDir ?? '/',
      stopSignal: 'SIGTERM',
      stopLimitMs: 10_000
    })
    await untilHealthy(child, (signal) => ping(port, options.password, signal), context)
    return Object.assign(child, { url: `redis://:${options.password}@127.0.0.1:${port}`, port })
  })
}

function configuration({ dataDir, password }: RedisOptions, port: number): string {
  const lines = [
    `port ${port}`,
    'bind 127.0.0.1',
    `requirepass ${password}`,
    'daemonize no',
    // BullMQ would lose entries under any other policy.
    'maxmemory-policy noeviction',
    'save ""'
  ]
  if (dataDir) lines.push(`dir ${JSON.stringify(dataDir)}`, 'appendonly yes', 'appendfsync everysec')
  return `${lines.join('\n')}\n`
}

function ping(port: number, password: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', signal })
    let reply = ''
    socket.on('connect', () => socket.write(`AUTH ${password}\r\nPING\r\n`))
    socket.on('data', (chunk) => {
      reply += chunk
      if (reply.includes('+PONG')) socket.end(resolve)
      else if (/^-/m.test(reply)) socket.destroy(new Error(`Redis replied ${reply.trim()}`))
    })
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('Redis closed the connection')))
  })
}
