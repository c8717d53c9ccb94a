// What the JSON blocks of the pages are, by page: a request's body, or output whose fields a test of the product fixes.
import { expect } from '@jest/globals'

type Faults = (method: string, path: string, body: unknown) => unknown[]

const fields =
  (...names: string[]) =>
  (text: string) =>
    expect(Object.keys(JSON.parse(text))).toEqual(names)

export const responses: Record<string, (text: string, faults: Faults) => void> = {
  'docs/capsules/audit.md': (text) => expect(text).toMatch(/^\{ "(seq|ok)": /),
  'docs/capsules/capsule-runs.md': (text, faults) => {
    for (const line of text.trim().split('\n'))
      expect(faults('POST', '/api/capsules/x/run', JSON.parse(line))).toEqual([])
  },
  'docs/mitigation.md': (text, faults) => {
    const read = JSON.parse(text)
    if (!('shots' in read)) return fields('observable', 'value', 'standard_error', 'method', 'raw')(text)
    const circuit = { format: 'qasm3', payload: 'OPENQASM 3.0;' }
    expect(faults('POST', '/api/jobs/submit', { backend: 'aer-noisy', circuit, params: read })).toEqual([])
  },
  'docs/observables.md': (text, faults) => {
    const read = JSON.parse(text)
    if (!('shots' in read)) return fields('observable', 'value', 'standard_error', 'method')(text)
    const circuit = { format: 'qasm3', payload: 'OPENQASM 3.0;' }
    expect(faults('POST', '/api/jobs/submit', { backend: 'local', circuit, params: read })).toEqual([])
  },
  'docs/operations/emulators.md': fields('providers'),
  'docs/operations/observability.md': fields(
    ...['level', 'time', 'process', 'request_id', 'method', 'route', 'status', 'ms', 'msg']
  ),
  'docs/programs.md': (text, faults) => {
    const circuit = { format: 'qasm3', payload: 'OPENQASM 3.0;' }
    const body = { backend: 'aer-noisy', circuit, params: JSON.parse(text) }
    expect(faults('POST', '/api/jobs/submit', body)).toEqual([])
  },
  // A policy of AWS, which names each operation that services/providers/braket calls.
  'docs/providers.md': fields('Version', 'Statement'),
  'docs/sweeps.md': fields('points', 'total_points', 'failed_points', 'execution_time_ms', 'metadata'),
  'docs/webhooks.md': fields('type', 'timestamp', 'data')
}
