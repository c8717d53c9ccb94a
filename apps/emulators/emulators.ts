// Starts the emulated providers: their HTTP protocols on loopback, with results from the emulators' own simulator. No request
// leaves the machine, and nothing is charged.
import type { FastifyInstance } from 'fastify'
import { createAzure } from './azure/azure.js'
import { createBraket } from './braket/braket.js'
import { EmulatedClock } from './clock.js'
import { buildControlServer } from './control-server.js'
import { createEmulator, type EmulatorControl, type EmulatorDescription } from './emulator.js'
import { createIbm } from './ibm/ibm.js'
import { createIonq } from './ionq/ionq.js'
import type { EmulatedProvider, Timing } from './provider.js'
import type { Certificate } from './provider-server.js'

/** The providers, in the order of their ports. */
const providers = {
  ionq: createIonq,
  'aws-braket': createBraket,
  'ibm-quantum': createIbm,
  'azure-quantum': createAzure
} satisfies Record<string, (clock: EmulatedClock, options: Omit<EmulatorOptions, 'ports' | 'tls'>) => EmulatedProvider>

export type ProviderName = keyof typeof providers
export const providerNames = Object.keys(providers) as ProviderName[]

export interface EmulatorOptions {
  /** Ports on 127.0.0.1; any free one if omitted or 0. */
  ports?: Partial<Record<ProviderName | 'control', number>>
  /** How long tasks wait and run by default. */
  timing?: Partial<Timing>
  /** How many jobs a user of the emulated IBM Quantum can start in a minute; 5 if omitted. */
  startsPerMinute?: number
  /** With it, all providers speak TLS; the control interface does not. */
  tls?: Certificate
}

export interface Emulators {
  providers: (EmulatorDescription & { control: EmulatorControl })[]
  /** The description of one provider, with its control functions. */
  provider(name: ProviderName): EmulatorDescription & { control: EmulatorControl }
  /** The same descriptions over HTTP, at /providers. */
  controlAddress: string
  /** Closes every connection, including those that hang on purpose. */
  close(): Promise<void>
}

/** Starts all emulators. If a port is taken, stops them again and rejects. */
export async function startEmulators({ ports = {}, tls, ...options }: EmulatorOptions = {}): Promise<Emulators> {
  const started = providerNames.map((name) => {
    const clock = new EmulatedClock()
    return { name, emulator: createEmulator(providers[name](clock, options), clock, tls) }
  })
  const described: Emulators['providers'] = []
  const controlServer = buildControlServer(
    started.map(({ emulator }) => emulator),
    () => described.map(({ control: _control, ...description }) => description)
  )
  const servers = [controlServer, ...started.map(({ emulator }) => emulator.server)]
  const close = async () => {
    await Promise.all(servers.map((server) => server.close()))
  }
  try {
    const controlAddress = await listen(controlServer, ports.control)
    for (const { name, emulator } of started) {
      const address = await listen(emulator.server, ports[name])
      described.push({
        provider: name,
        base_url: `${address}${emulator.provider.basePath}`,
        variables: emulator.provider.variables(address),
        control_url: `${controlAddress}/${name}`,
        credentials: emulator.provider.credentials,
        control: emulator.control
      })
    }
    return {
      providers: described,
      provider: (name) => described.find((one) => one.provider === name)!,
      controlAddress,
      close
    }
  } catch (error) {
    await close()
    throw error
  }
}

const listen = (server: FastifyInstance, port = 0): Promise<string> => server.listen({ host: '127.0.0.1', port })
