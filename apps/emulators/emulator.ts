// One running emulator: a provider, its clock, its faults and its log, and the functions that steer them. The control
// server offers the same functions over HTTP.
import type { FastifyInstance } from 'fastify'
import { type EmulatedClock, isoTime } from './clock.js'
import { type Fault, FaultList, type FaultOrder } from './faults.js'
import type { EmulatedProvider, LedgerTask, Timing } from './provider.js'
import { buildProviderServer } from './provider-server.js'
import { type LoggedRequest, RequestLog } from './request-log.js'

export interface EmulatorDescription {
  provider: string
  /** What an adapter takes for the provider's own address. */
  base_url: string
  control_url: string
  credentials: Record<string, string>
}

export interface EmulatorControl {
  /** The ledger: everything that was accepted, oldest first, deleted tasks too. */
  tasks(): LedgerTask[]
  requests(): LoggedRequest[]
  /** Moves the emulated time ahead; answers the new time, ISO-8601. */
  advance(ms: number): string
  fault(order: FaultOrder): Fault
  /** Those that still wait for requests. */
  faults(): Fault[]
  clearFaults(): void
  /** For tasks submitted from now on. */
  timing(timing: Partial<Timing>): void
  /** Throws for an unknown device or status. */
  device(device: string, status: string): void
  /** Forgets tasks, requests, faults and settings, and sets the clock right. */
  reset(): void
}

export interface Emulator {
  readonly name: string
  readonly provider: EmulatedProvider
  readonly control: EmulatorControl
  readonly server: FastifyInstance
}

export function createEmulator(provider: EmulatedProvider, clock: EmulatedClock): Emulator {
  const log = new RequestLog()
  const faults = new FaultList(provider.basePath)
  return {
    name: provider.name,
    provider,
    server: buildProviderServer({ provider, clock, log, faults }),
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
