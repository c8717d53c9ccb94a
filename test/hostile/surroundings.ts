// The stack under attack, and what it reaches outside: a receiver that never responds, and the emulated provider.

import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { projectRoot } from '../../apps/cli/stack/project.js'
import { QjobStart, stillRunning } from '../support/stack/qjob-start.js'
import { stopWithProcess } from '../support/stack/stop-with-process.js'

const STOP_LIMIT_MS = 240_000

export interface Tarpit {
  port: number
  close(): Promise<void>
}

/** Accepts every connection, reads what arrives and never responds. */
export async function startTarpit(): Promise<Tarpit> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.resume()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}

export interface RunningStack {
  stack: QjobStart
  base: string
}

/** Starts the stack with the limits as shipped. @param port 0 = any free one. */
export async function startStack(dataDir: string, tarpit: Tarpit, port: string): Promise<RunningStack> {
  const env = {
    PORT: port,
    LOG_LEVEL: 'info',
    RATE_LIMIT_SCALE: '1',
    // The callers of both teams name addresses of their own.
    TRUSTED_PROXIES: '127.0.0.1',
    WEBHOOK_ALLOW_PRIVATE: '1',
    SMTP_URL: `smtp://127.0.0.1:${tarpit.port}`
  }
  const command = [process.execPath, join(projectRoot, 'tools/qjob.mjs'), 'start', '--emulated-hardware']
  const stack = new QjobStart(dataDir, env, command)
  stopWithProcess(stack)
  const base = /^ready: (\S+)/.exec(await stack.ready())?.[1]
  if (base) return { stack, base }
  await stopStack(stack)
  throw new Error(`the stack did not start:\n${stack.stderr}`)
}

export async function stopStack(stack: QjobStart): Promise<void> {
  const started = stack.processes()
  try {
    stack.signal('SIGINT')
    await stack.until('the stop of the stack', () => stillRunning(started).length === 0, STOP_LIMIT_MS)
  } finally {
    await stack.end()
  }
}
