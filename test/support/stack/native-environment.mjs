// The environment of native-runner.mjs: Node itself, with the variables of the process put back after each file.
import { ModuleMocker } from 'jest-mock'

export default class NativeEnvironment {
  // jest requires these of an environment; the tests use neither mocks nor fake timers.
  global = {}
  moduleMocker = new ModuleMocker(globalThis)
  fakeTimers = null
  fakeTimersModern = null

  constructor(_config, { testPath }) {
    this.testPath = testPath
  }

  async setup() {
    this.cpu = process.cpuUsage()
    // Node's fetch takes its own dispatcher on its first use, unless the package undici has put one in its place.
    await fetch('data:,')
    this.env = { ...process.env }
  }

  async teardown() {
    if (process.env.HANDLES_LOG) {
      const fs = await import('node:fs')
      const u = process.cpuUsage(this.cpu)
      fs.appendFileSync(
        process.env.HANDLES_LOG,
        JSON.stringify({
          pid: process.pid,
          f: this.testPath.split('/test/')[1],
          cpu: (u.user + u.system) / 1e6,
          rss: Math.round(process.memoryUsage().rss / 1e6),
          active: process.getActiveResourcesInfo().reduce((a, k) => ({ ...a, [k]: (a[k] ?? 0) + 1 }), {})
        }) + '\n'
      )
    }
    for (const name of Object.keys(process.env)) if (!(name in this.env)) delete process.env[name]
    Object.assign(process.env, this.env)
  }

  getVmContext() {
    return null
  }

  exportConditions() {
    return ['node']
  }
}
