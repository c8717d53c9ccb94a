// One running emulator: a provider with its clock, faults and log, and the functions that control them. The control server
// offers the same functions over HTTP.
import type { FastifyInstance } from 'fastify'
import { type EmulatedClock, isoTime } from './clock.js'
import { type Fault, FaultList, type FaultOrder } from './faults.js'
import type { EmulatedProvider, LedgerTask, Timing } from './provider.js'
import { buildProviderServer, type Certificate } from './provider-server.js'
import { type LoggedRequest, RequestLog } from './request-log.js'

export interface EmulatorDescription {
  provider: string
  /** The address that an adapter uses for the provider. */
  base_url: string
  /** The environment variables that give api and worker the provider's addresses. */
  variables: Record<string, string>
  control_url: string
  credentials: Record<string, string>
}

export interface EmulatorControl {
  /** The ledger: every accepted task, oldest first, including deleted ones. */
  tasks(): LedgerTask[]
  requests(): LoggedRequest[]
  /** Advances the emulated time; returns the new time, ISO-8601. */
  advance(ms: number): string
  fault(order: FaultOrder): Fault
  /** The faults that still wait for requests. */
  faults(): Fault[]
  clearFaults(): void
  /** Applies to tasks submitted from now on. */
  timing(timing: Partial<Timing>): void
  /** The share of shots, 0 to 1, that return a random outcome. Applies to tasks submitted from now on. */
  noise(level: number): void
  /** @throws Error for an unknown device or status. */
  device(device: string, status: string): void
  /** Clears tasks, requests, faults and settings, and resets the clock. */
  reset(): void
}

export interface Emulator {
  readonly name: string
  readonly provider: EmulatedProvider
  readonly control: EmulatorControl
  readonly server: FastifyInstance
}

/** @param tls makes the provider speak TLS. */
export function createEmulator(provider: EmulatedProvider, clock: EmulatedClock, tls?: Certificate): Emulator {
  const log = new RequestLog()
  const faults = new FaultList(provider)
  return {
    name: provider.name,
    provider,
    server: buildProviderServer({ provider, clock, log, faults, tls }),
    control: {
      tasks: () => provider.tasks(),
      requests: () => log.list(),
      advance(ms) {
        clock.advance(ms)
        return isoTime(clock.now())
      },
      fault: (order) => faults.add(order),
      faults: () => faults.list(),
      clearFaults: () => faults.clear(),
      timing: (timing) => provider.setTiming(timing),
      noise: (level) => provider.setNoise(level),
      device: (device, status) => provider.setDeviceStatus(device, status),
      reset() {
        provider.reset()
        log.clear()
        faults.clear()
        clock.reset()
      }
    }
  }
}
