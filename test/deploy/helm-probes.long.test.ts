// The probes of the Helm chart, against what the processes serve.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from '@jest/globals'
import { readApiConfig } from '../../apps/api/config.js'
import { readWorkerConfig } from '../../apps/worker/config.js'
import { startHealth } from '../../apps/worker/health.js'
import {
  allPods,
  type Container,
  chartTest,
  componentOf,
  containerOf,
  portOf,
  processEnvironment,
  python,
  read,
  render,
  workloads
} from './chart.js'

const probesOf = (container: Container) => [
  container.startupProbe!,
  container.livenessProbe!,
  container.readinessProbe!
]

chartTest('a probe of an api asks for a path that it serves, on its port and at an address that others reach', () => {
  const served = [...read('apps/api/service/service.ts').matchAll(/app\.get\(\s*'([^']+)'/g)].map(([, path]) => path)
  for (const [, pod] of allPods().filter(([, pod]) => componentOf(pod) === 'api')) {
    const container = containerOf(pod)
    const { port, host } = readApiConfig(processEnvironment(container))
    expect(host).toBe('0.0.0.0')
    for (const { httpGet } of probesOf(container)) {
      expect(served).toContain(httpGet!.path)
      expect(portOf(container, httpGet!.port)).toBe(port)
    }
  }
})

chartTest(
  'a probe of a worker asks for a path that it serves, on its port and at an address that others reach',
  async () => {
    let ready = true
    const server = startHealth('127.0.0.1', 0, () => ready)
    await once(server, 'listening')
    try {
      const statusOf = async (path: string) =>
        (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`)).status
      for (const [, pod] of allPods().filter(([, pod]) => componentOf(pod) === 'worker')) {
        const container = containerOf(pod)
        const config = readWorkerConfig(processEnvironment(container))
        expect(config.healthHost).toBe('0.0.0.0')
        const [startup, liveness, readiness] = probesOf(container).map(({ httpGet }) => httpGet!)
        for (const probe of [startup!, liveness!, readiness!])
          expect(portOf(container, probe.port)).toBe(config.healthPort)
        // A worker that takes no jobs is not restarted: its direct jobs would be lost.
        for (const [isReady, status] of [
          [true, 200],
          [false, 503]
        ] as const) {
          ready = isReady
          expect(await statusOf(startup!.path)).toBe(200)
          expect(await statusOf(liveness!.path)).toBe(200)
          expect(await statusOf(readiness!.path)).toBe(status)
        }
      }
    } finally {
      server.close()
      server.closeAllConnections()
    }
  }
)

chartTest('a probe of an executor runs against an executor, and fails without its token', async () => {
  const { port } = new URL(process.env.TEST_EXECUTOR_URL!)
  const token = process.env.TEST_EXECUTOR_TOKEN!
  for (const { exec } of probesOf(containerOf(workloads(render('minimal'), 'executor')[0]!.pod))) {
    expect(await exitCode(exec!.command, port, token)).toBe(0)
    expect(await exitCode(exec!.command, port, 'another-token-than-its')).not.toBe(0)
  }
})

chartTest('a probe of an executor that takes no runs finds it alive and not ready', async () => {
  let status = 'ok'
  const server = createServer((_request, response) => response.end(JSON.stringify({ status })))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const port = String((server.address() as AddressInfo).port)
  const pod = workloads(render('minimal'), 'executor')[0]!.pod
  const [startup, liveness, readiness] = probesOf(containerOf(pod)).map(({ exec }) => exec!.command)
  const states = [...read('docs/operations/executor.md').matchAll(/^\| `(ok|degraded|draining|insecure)` \|/gm)]
  expect(states).toHaveLength(4)
  try {
    for (const [, state] of states) {
      status = state!
      expect(await exitCode(startup!, port, 'a-token')).toBe(0)
      expect(await exitCode(liveness!, port, 'a-token')).toBe(0)
      expect((await exitCode(readiness!, port, 'a-token')) === 0).toBe(['ok', 'degraded'].includes(status))
    }
  } finally {
    server.close()
    server.closeAllConnections()
  }
})

/** Runs the command of a probe here, at another port than in a pod. Not with spawnSync: the server can be in this process. */
function exitCode([, ...args]: string[], port: string, token: string): Promise<number | null> {
  const own = args.map((argument) => argument.replace(/(?<=localhost:)\d+/, port))
  const child = spawn(python, own, { env: { EXECUTOR_TOKEN: token }, stdio: 'ignore' })
  return new Promise((resolve, reject) => child.on('error', reject).on('close', resolve))
}
