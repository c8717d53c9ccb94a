// Jobs of every framework with the public client, their results with qubit 0 leftmost, and the catalogue.
import { describe, expect, test } from '@jest/globals'
import {
  asymmetricCirq,
  asymmetricQasm2,
  asymmetricQasm3,
  asymmetricQiskit,
  bellQasm3,
  slowQiskit
} from '../support/jobs/builders.js'
import type { Scene } from './scene.js'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** X on qubit 0 of 3. */
const asymmetric = {
  'OpenQASM 3': ['openqasm', asymmetricQasm3()],
  'OpenQASM 2': ['openqasm', asymmetricQasm2()],
  Qiskit: ['qiskit', asymmetricQiskit()],
  Cirq: ['cirq', asymmetricCirq()],
  PennyLane: [
    'pennylane',
    'import pennylane as qml\n\n@qml.qnode(qml.device("default.qubit", wires=3))\ndef circuit():\n    qml.PauliX(0)\n    return qml.counts(wires=[0, 1, 2])\n'
  ],
  'the client itself': ['marqov', 'from marqov import Circuit\n\ncircuit = Circuit().x(0).x(2).x(2)\n'],
  'the device of the client': [
    'marqov',
    'from marqov import *\nprint(get_device(params).run(Circuit().x(0).x(2).x(2), 100))\n'
  ]
}

export function checkSubmitting(scene: () => Scene): void {
  const run = <T>(code: string, names: Record<string, unknown> = {}) =>
    scene().python.run<T>(code, { ...scene().there, ...names })

  describe('code of a job', () => {
    test.each(Object.entries(asymmetric))(
      'in %s runs, and qubit 0 is the leftmost character of an outcome',
      async (_name, [framework, code]) => {
        const { id, counts, shots } = await run<Record<string, unknown>>(
          `
          job = connect(url, key).submit(code, backend="marqov-sim", framework=framework, shots=100)
          result = job.result(60, poll_interval=0.1)
          return {"id": job.id, "counts": result.counts, "shots": result.raw["shots"]}
          `,
          { framework, code }
        )
        expect(id).toMatch(UUID)
        expect({ counts, shots }).toEqual({ counts: { '100': 100 }, shots: 100 })
      }
    )

    test('for a Bell pair gives both outcomes, and their shares sum to one', async () => {
      const [counts, probabilities] = await run<Record<string, number>[]>(
        `
        job = connect(url, key).submit(code, backend="local", framework="openqasm")
        result = job.result(60, poll_interval=0.1)
        return [result.counts, result.probabilities]
        `,
        { code: bellQasm3() }
      )
      expect(Object.keys(counts!).sort()).toEqual(['00', '11'])
      expect(counts!['00']! + counts!['11']!).toBe(1000)
      expect(probabilities!['00']! + probabilities!['11']!).toBeCloseTo(1, 12)
    })

    test('that returns integers beyond 2^53 returns them exactly', async () => {
      const value = await run(
        `
        job = connect(url, key).submit(code, backend="local", framework="qiskit")
        return str(job.result(60, poll_interval=0.1).raw["value"])
        `,
        { code: 'def main():\n    return {"value": 10**30 + 1}\n' }
      )
      expect(value).toBe(`1${'0'.repeat(29)}1`)
    })
  })

  describe('a Circuit of the client', () => {
    test.each([
      ['of three qubits', 'Circuit().x(2)', { '001': 50 }],
      ['that leaves qubits out', 'Circuit().x(3)', { '0001': 50 }],
      ['of one qubit', 'Circuit().x(0)', { '1': 50 }],
      ['with angles in scientific notation', 'Circuit().rx(1e-9, 0).x(1).rz(-2.5e-7, 1)', { '01': 50 }],
      ['with gates on two qubits', 'Circuit().x(0).cx(0, 1).swap(1, 2).cz(0, 2)', { '101': 50 }]
    ])('%s runs exactly as drawn', async (_name, circuit, counts) => {
      const code = `return connect(url, key).submit(${circuit}, backend="marqov-sim", shots=50).result(60, poll_interval=0.1).counts`
      expect(await run(code)).toEqual(counts)
    })
  })

  describe('a job', () => {
    test('has a status of exactly the seven fields that the client knows, and its cost', async () => {
      const seen = await run<Record<string, unknown>>(
        `
        client = connect(url, key)
        job = client.submit(code, backend="local", framework="openqasm", shots=10)
        job.result(60, poll_interval=0.1)
        again = client.job(job.id)
        unasked = again.estimated_cost_usd
        return {
            "status": again.status(), "cost": again.estimated_cost_usd, "unasked": unasked,
            "fields": sorted(again._last_status),
        }
        `,
        { code: bellQasm3() }
      )
      expect(seen).toEqual({
        status: 'completed',
        cost: 0,
        unasked: null,
        fields: ['backend', 'created_at', 'estimated_cost_usd', 'id', 'result', 'status', 'updated_at']
      })
    })

    test("that fails raises JobFailed with its program's reason", async () => {
      const refusal = await scene().python.refusal(
        'connect(url, key).submit(code, backend="local", framework="qiskit").result(60, poll_interval=0.1)',
        { ...scene().there, code: 'raise ValueError("three is not even")\n' }
      )
      expect(refusal).toMatchObject({ type: 'JobFailed', code: 'failed' })
      expect(refusal.message).toContain('ValueError: three is not even')
    })

    test('with an unknown gate names the gate and its line', async () => {
      const refusal = await scene().python.refusal(
        'connect(url, key).submit(code, backend="marqov-sim", framework="openqasm").result(60, poll_interval=0.1)',
        { ...scene().there, code: 'OPENQASM 3.0;\nqubit[1] q;\nnosuch q[0];' }
      )
      expect(refusal).toMatchObject({ type: 'JobFailed', code: 'failed' })
      expect(refusal.message).toMatch(/3.*nosuch|nosuch.*3/s)
    })

    test('that is cancelled ends as cancelled, and cannot be cancelled again', async () => {
      const { first, result } = await run<Record<string, unknown>>(
        `
        job = connect(url, key).submit(code, backend="local", framework="qiskit", shots=10)
        first = job.cancel()
        try:
            job.result(30, poll_interval=0.1)
        except JobFailed as error:
            return {"first": first, "result": error.code, "id": job.id}
        `,
        { code: slowQiskit(30) }
      )
      expect({ first, result }).toEqual({ first: null, result: 'cancelled' })
      const refusal = await scene().python.refusal(
        `
        job = connect(url, key).submit(code, backend="local", framework="openqasm", shots=10)
        job.result(30, poll_interval=0.1)
        job.cancel()
        `,
        { ...scene().there, code: bellQasm3() }
      )
      expect(refusal).toMatchObject({ type: 'MarqovPlatformError', code: 'conflict', status: 409 })
    })
  })

  test('the catalogue has every backend with true or false for its availability', async () => {
    const backends = await run<Record<string, { available: unknown; types: unknown; extra: unknown }>>(`
      return {
          backend.slug: {
              "available": backend.is_available,
              "types": backend.supported_program_types,
              "extra": "qubitCount" in backend.extra,
          }
          for backend in connect(url, key).backends()
      }
    `)
    expect(backends['marqov-sim']).toEqual({ available: true, types: ['qasm3', 'qasm2'], extra: true })
    expect(backends.tn1).toMatchObject({ available: false })
    const { backends: listed } = await scene().ask('GET', '/api/backends')
    expect(Object.keys(backends)).toEqual((listed as { slug: string }[]).map(({ slug }) => slug))
  })

  test('the service reports the version of its interface', async () => {
    expect(await run('return connect(url, key).platform_info().api_version')).toMatch(/^\d/)
  })
}
