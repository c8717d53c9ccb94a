// An analog program, as a submission sends it.

interface Analog {
  sites?: unknown
  header?: unknown
}

/** Two atoms 5.5 micrometres apart, driven for 4 microseconds. */
export function analogProgram({
  sites = [
    ['0', '0'],
    ['5.5e-6', '0']
  ],
  header = { name: 'braket.ir.ahs.program', version: '1' }
}: Analog = {}): string {
  const constant = (value: string) => ({
    time_series: { values: ['0', value, value, '0'], times: ['0', '1e-6', '3e-6', '4e-6'] },
    pattern: 'uniform'
  })
  const driving = { amplitude: constant('15700000'), phase: constant('0'), detuning: constant('0') }
  return JSON.stringify({
    braketSchemaHeader: header,
    setup: { ahs_register: { sites, filling: Array.isArray(sites) ? sites.map(() => 1) : [] } },
    hamiltonian: { drivingFields: [driving], localDetuning: [] }
  })
}
