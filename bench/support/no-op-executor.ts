// An executor that completes every run at once, or after a pause, which leaves the platform's own cost.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { EXECUTOR_PROTOCOL, type ExecutorHealth } from '../../domain/backends/executor-health.js'

/** Enough that the gate before the executor is never the bottleneck. */
const SLOTS = 64

const result = JSON.stringify({ counts: { '00': 512, '11': 512 }, shots: 1024, backend: 'local', metadata: {} })
const accepted = `${JSON.stringify({ accepted: { run_id: 'bench' } })}\n`
const outcome = `${JSON.stringify({ outcome: { status: 'completed', execution_time_ms: 0, result } })}\n`

const health = {
  status: 'ok',
  protocol: EXECUTOR_PROTOCOL,
  instance_id: 'bench',
  sandbox: { level: 'bench', problem: '', warning: '' },
  slots: { total: SLOTS, running: 0 },
  engines: [{ name: 'statevector', version: 'none' }]
} satisfies ExecutorHealth

/** @param pauseMs before a run is accepted, and again before its outcome. */
export async function startNoOpExecutor(pauseMs = 0): Promise<{ url: string; close(): Promise<void> }> {
  const server: Server = createServer((request, response) => {
    if (request.url === '/health') {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(health))
      return
    }
    request.resume()
    request.on('end', async () => {
      if (request.url === '/reservations') {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end('{"id":"bench"}')
        return
      }
      response.writeHead(200, { 'content-type': 'application/x-ndjson' })
      if (pauseMs === 0) return void response.end(accepted + outcome)
      await sleep(pauseMs)
      response.write(accepted)
      await sleep(pauseMs)
      response.end(outcome)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}
