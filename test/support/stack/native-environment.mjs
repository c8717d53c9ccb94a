// The environment of native-runner.mjs: Node itself, with the variables of the process put back after each file.
import { ModuleMocker } from 'jest-mock'

export default class NativeEnvironment {
  // jest requires these of an environment; the tests use neither mocks nor fake timers.
  global = {}
  moduleMocker = new ModuleMocker(globalThis)
  fakeTimers = null
  fakeTimersModern = null

  async setup() {
    // Node's fetch brings its own dispatcher when it is first used, unless the package undici was there before it.
    await fetch('data:,')
    this.env = { ...process.env }
  }

  async teardown() {
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
