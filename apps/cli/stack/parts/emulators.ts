// The emulated quantum providers as a part of the stack, and the file with their addresses.
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../project.js'
import { type Child, type StackContext, spawnChild, untilHealthy } from './child.js'
import { onPort } from './free-port.js'
import { probeHttp } from './http-probe.js'

export const emulatorsProgram = join(projectRoot, 'dist/apps/emulators/main.js')

const stopLimitMs = 5_000

export interface EmulatedProvider {
  provider: string
  base_url: string
  /** The environment variables that give api and worker its addresses. */
  variables: Record<string, string>
  control_url: string
  credentials: Record<string, string>
}

export type EmulatorsPart = Child & {
  providers: EmulatedProvider[]
  /** The ports that a later start uses again: control=7300,ionq=7301. */
  ports: string
}

/** Starts the emulators, on the ports of an earlier start if given; resolves when they respond. */
export function startEmulatorsPart({ ports }: { ports?: string }, context: StackContext): Promise<EmulatorsPart> {
  const fixed = ports === undefined ? undefined : Number(/control=(\d+)/.exec(ports)?.[1])
  return onPort(fixed, async (control) => {
    const child = await spawnChild(context, {
      name: 'emulators',
      command: process.execPath,
      args: ['--enable-source-maps', emulatorsProgram, '--log', '--ports', ports ?? `control=${control}`],
      env: process.env,
      cwd: projectRoot,
      stopSignal: 'SIGTERM',
      stopLimitMs
    })
    const address = `http://127.0.0.1:${control}`
    await untilHealthy(child, (signal) => probeHttp(`${address}/healthz`, signal), context)
    const response = await fetch(`${address}/providers`, { signal: AbortSignal.timeout(stopLimitMs) })
    const { providers } = (await response.json()) as { providers: EmulatedProvider[] }
    const own = providers.map(({ provider, base_url }) => `${provider}=${new URL(base_url).port}`)
    return Object.assign(child, { providers, ports: [`control=${control}`, ...own].join(',') })
  })
}

/** An emulator never accepts a request later than this, unless a test asks it to. */
const lookUpWindowSeconds = '5'

/** The environment variables that make api and worker use the emulators, with what the operator has set in `own`. */
export const emulatorVariables = (
  providers: readonly EmulatedProvider[],
  own: NodeJS.ProcessEnv = process.env
): NodeJS.ProcessEnv => ({
  EMULATED_HARDWARE: '1',
  PROVIDER_LOOKUP_WINDOW: own.PROVIDER_LOOKUP_WINDOW || lookUpWindowSeconds,
  ...Object.assign({}, ...providers.map(({ variables }) => variables))
})

const fileOf = (folder: string) => join(folder, 'emulators.json')

/** The file is complete at every moment, and only its owner can read it. */
export function writeEmulatorsFile(folder: string, providers: readonly EmulatedProvider[]): void {
  const file = fileOf(folder)
  writeFileSync(`${file}.new`, `${JSON.stringify({ providers }, null, 2)}\n`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}

/** A stack without emulators must not leave the file of an earlier one. */
export const removeEmulatorsFile = (folder: string): void => rmSync(fileOf(folder), { force: true })
