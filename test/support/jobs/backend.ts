// A backend of the catalogue, for rules that need no database.
import type { Backend } from '../../../domain/backends/backend.js'

/** A local simulator of 25 qubits at 350 micro-USD a shot, with at most 1,000 shots. */
export const backend = (changes: Partial<Backend> = {}): Backend => ({
  id: '01900000-0000-7000-8000-000000000000',
  slug: 'sim',
  name: 'Simulator',
  provider: 'Local',
  deviceType: 'simulator',
  providerTargetId: 'sim',
  region: null,
  qubitCount: 25,
  topology: null,
  isAvailable: true,
  isRetired: false,
  emulated: false,
  status: 'online',
  statusUpdatedAt: new Date(0),
  updatedAt: new Date(0),
  pricing: { taskFee: 0n, perShot: 350n, minimumCost: 0n, byTime: null },
  maxShots: 1000,
  maxQubits: 25,
  engine: 'statevector',
  description: null,
  documentationUrl: null,
  tags: [],
  displayOrder: 10,
  isRecommended: false,
  supportedProgramTypes: ['qasm3'],
  supportsNoiseModel: false,
  supportsStateVector: true,
  nativeGates: null,
  served: false,
  queueLength: null,
  queueTimeSeconds: null,
  ...changes
})
