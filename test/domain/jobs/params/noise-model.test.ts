import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { codeOf } from '../../../../domain/errors.js'
import { assertNoiseModel, devicesWithFigures } from '../../../../domain/jobs/params/noise-model.js'

const check = (model: unknown) => assertNoiseModel(model, 14)

describe('a noise model', () => {
  test.each([
    [{}],
    [{ like: 'iqm-garnet' }],
    [{ like: 'ionq-forte-1', gate_errors: { all_2q: 0 } }],
    [{ gate_errors: { all_1q: 0, all_2q: 1, h: 0.01, 'cx@0,13': 0.5 } }],
    [{ readout_errors: { all: { p0_given1: 0.02, p1_given0: 0.01 }, '3': { p0_given1: 1 } } }],
    [{ t1_us: 50, t2_us: 100 }],
    [{ t1_us: { '0': 50 }, t2_us: 70, gate_times_ns: { cx: 300, measure_like: 0 } }]
  ])('%j is accepted', (model) => expect(() => check(model)).not.toThrow())

  test.each([
    [[], 'params.noise_model: must be an object'],
    [null, 'params.noise_model: must be an object'],
    [{ like: 'local' }, 'params.noise_model.like: has no published figures; known are those of ionq-forte-1, '],
    [{ like: 3 }, 'params.noise_model.like: has no published figures'],
    [{ like: null }, 'rigetti-ankaa-3 (got null)'],
    [{ gates: {} }, 'params.noise_model.gates: is not a field'],
    [{ gate_errors: [] }, 'params.noise_model.gate_errors: must be an object'],
    [{ gate_errors: { h: 1.01 } }, 'params.noise_model.gate_errors.h: must be a number from 0 to 1 (got 1.01)'],
    [{ gate_errors: { h: '0.1' } }, 'params.noise_model.gate_errors.h: must be a number'],
    [{ gate_errors: { 'c x': 0.1 } }, 'params.noise_model.gate_errors.c x: must be all_1q'],
    [{ gate_errors: { 'cx@0,14': 0.1 } }, 'params.noise_model.gate_errors.cx@0,14: the backend has the qubits 0 to 13'],
    [{ gate_errors: { 'cx@1,1': 0.1 } }, 'params.noise_model.gate_errors.cx@1,1: names a qubit twice'],
    [{ gate_errors: { measure: 0.1 } }, 'params.noise_model.gate_errors.measure: "measure" is not a gate'],
    [{ readout_errors: { x: {} } }, 'params.noise_model.readout_errors.x: must name a qubit'],
    [{ readout_errors: { all: { p: 1 } } }, 'params.noise_model.readout_errors.all.p: is not a field'],
    [
      { readout_errors: { all: { p0_given1: -1 } } },
      'params.noise_model.readout_errors.all.p0_given1: must be a number'
    ],
    [{ t1_us: 0 }, 'params.noise_model.t1_us: must be above 0'],
    [{ t1_us: { '0': -1 } }, 'params.noise_model.t1_us.0: must be a number'],
    [{ t1_us: 50, t2_us: 101 }, 'params.noise_model.t2_us: T2 is at most 2 T1'],
    [{ t1_us: { '2': 10 }, t2_us: 50 }, 'params.noise_model.t2_us.2: T2 is at most 2 T1'],
    [{ gate_times_ns: { cx: 1e10 } }, 'params.noise_model.gate_times_ns.cx: must be a number']
  ])('%j is refused with the place of the fault', (model, message) => {
    const error = (() => {
      try {
        check(model)
      } catch (caught) {
        return caught as Error
      }
      throw new Error('it was taken')
    })()
    expect(codeOf(error)).toBe('validation_error')
    expect(error.message).toContain(message)
  })

  test('can be like each device whose figures the executor has', () => {
    const figures = readFileSync('apps/executor/qjs_executor/device_figures.json', 'utf8')
    expect(Object.keys(JSON.parse(figures))).toEqual([...devicesWithFigures])
  })
})
