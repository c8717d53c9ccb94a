// Analog programs for tests, as clients send them: numbers are texts.

interface Series {
  times: number[]
  values: number[]
}

export interface AnalogParts {
  sites: [x: number, y: number][]
  filling?: number[]
  amplitude: Series
  phase?: Series
  detuning?: Series
  local?: { magnitude: Series; pattern: number[] }
}

export function analogAction({
  sites,
  filling,
  amplitude,
  phase,
  detuning,
  local
}: AnalogParts): Record<string, unknown> {
  const none = { times: [0, amplitude.times.at(-1)!], values: [0, 0] }
  const series = ({ times, values }: Series) => ({ values: values.map(String), times: times.map(String) })
  const uniform = (given: Series) => ({ time_series: series(given), pattern: 'uniform' })
  return {
    braketSchemaHeader: { name: 'braket.ir.ahs.program', version: '1' },
    setup: {
      ahs_register: {
        sites: sites.map((site) => site.map(String)),
        filling: filling ?? sites.map(() => 1)
      }
    },
    hamiltonian: {
      drivingFields: [
        { amplitude: uniform(amplitude), phase: uniform(phase ?? none), detuning: uniform(detuning ?? none) }
      ],
      localDetuning: local
        ? [{ magnitude: { time_series: series(local.magnitude), pattern: local.pattern.map(String) } }]
        : []
    }
  }
}
