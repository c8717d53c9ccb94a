import { describe, expect, test } from '@jest/globals'
import type { Circuit } from '../../../apps/console/circuit/circuit.js'
import { packed, rowsFor } from '../../../apps/console/drawing/columns.js'
import { type Mark, marksOf } from '../../../apps/console/drawing/marks.js'
import { bitPlaces, classicalWires } from '../../../apps/console/drawing/wires.js'
import { bell, circuitOf, empty, isOne, long, nested, qft, signs, teleportation } from './circuits.js'

function columnsOf(circuit: Circuit) {
  const wires = classicalWires(circuit)
  return packed(marksOf(circuit, wires), rowsFor(circuit.qubits, wires.length, bitPlaces(wires)))
}
const named = (circuit: Circuit) =>
  columnsOf(circuit).marks.map(({ mark, column }) => `${column} ${mark.kind === 'gate' ? mark.label : mark.kind}`)

describe('marks', () => {
  test('are one for each statement, however many gates it is', () => {
    const labels = marksOf(signs, []).map((mark) => (mark.kind === 'gate' ? `${mark.sign} ${mark.label}` : mark.kind))
    expect(labels).toEqual([
      'x x',
      'x x',
      'z z',
      'swap swap',
      'box rz(-π/4)',
      'box gphase(π)',
      'box gphase(π/2)',
      'box rzz(0.5)',
      'box entangle',
      'barrier'
    ])
  })

  test('have the controls of the call, filled where the gate acts at 1', () => {
    const [ccx, negated, , , , , phase, rzz, own] = marksOf(signs, [])
    expect(ccx).toMatchObject({
      controls: [
        { qubit: 0, value: 1 },
        { qubit: 1, value: 1 }
      ],
      targets: [3]
    })
    expect(negated).toMatchObject({ controls: [{ qubit: 2, value: 0 }], targets: [0] })
    expect(phase).toMatchObject({ controls: [], targets: [2] })
    expect(rzz).toMatchObject({ controls: [], targets: [0, 2] })
    expect(own).toMatchObject({ controls: [], targets: [0, 1] })
  })

  test('say what they are in full, with their line', () => {
    expect(marksOf(bell, []).map(({ title }) => title)).toEqual([
      'h on q[0], line 3',
      'cx on q[0], q[1], line 4',
      'measure q[0] into c[0], line 5',
      'measure q[1] into c[1], line 6'
    ])
  })

  test('of a gate that does nothing are boxes as well, where the program has them', () => {
    const circuit = circuitOf({ qubits: 2, clbits: 1 }, (program) => {
      program.own('nothing', [0, 1], []).h(0)
      program.branch(isOne(0), () => program.own('idle', [0], []).h(0))
      program.own('last', [1], [])
    })
    const labels = (marks: readonly Mark[]): unknown[] =>
      marks.map((mark) => (mark.kind === 'if' ? labels(mark.body) : mark.kind === 'gate' ? mark.label : mark.kind))
    expect(labels(marksOf(circuit, []))).toEqual(['nothing', 'h', ['idle', 'h'], 'last'])
  })

  test('of equal gates in two statements are two', () => {
    expect(
      marksOf(
        circuitOf({ qubits: 1 }, (program) => program.h(0).h(0)),
        []
      )
    ).toHaveLength(2)
  })
})

describe('columns', () => {
  test('are as few as the wires allow', () => {
    expect(named(bell)).toEqual(['0 h', '1 x', '2 measure', '3 measure'])
    expect(named(circuitOf({ qubits: 4 }, (program) => program.h(0).h(1).cx(2, 3).h(0)))).toEqual([
      '0 h',
      '0 h',
      '0 x',
      '1 h'
    ])
  })

  test('hold no mark on the line of another', () => {
    for (const circuit of [bell, qft, teleportation, nested, signs]) {
      const seen = new Set<string>()
      for (const { mark, column, top, bottom } of columnsOf(circuit).marks) {
        if (mark.kind === 'barrier') continue
        for (let row = top; row <= bottom; row++) {
          expect(seen).not.toContain(`${column} ${row}`)
          seen.add(`${column} ${row}`)
        }
      }
    }
  })

  test('keep the order of the program on each wire', () => {
    for (const circuit of [bell, qft, teleportation, nested, signs]) {
      const last = new Map<number, number>()
      const marks = [...columnsOf(circuit).marks].sort((one, other) => one.mark.call - other.mark.call)
      for (const { mark, column, top, bottom } of marks) {
        if (mark.kind === 'barrier') continue
        for (let row = top; row <= bottom; row++) {
          expect(column).toBeGreaterThan(last.get(row) ?? -1)
          last.set(row, column)
        }
      }
    }
  })

  test('let the wires between those of a barrier pass, and no gate pass it', () => {
    const circuit = circuitOf({ qubits: 3 }, (program) => program.h(0).barrier(0, 2).h(2).h(1))
    expect(named(circuit)).toEqual(['0 h', '0 h', '1 barrier', '2 h'])
  })

  test('of a frame begin after all that it waits for, and hold its content', () => {
    const { marks, frames } = columnsOf(teleportation)
    const measured = marks.filter(({ mark }) => mark.kind === 'measure').map(({ column }) => column)
    expect(frames[0]!.begin).toBeGreaterThan(Math.max(...measured.slice(0, 2)))
    expect(frames[1]).toMatchObject({ begin: frames[0]!.end, middle: frames[0]!.end + 1, end: frames[0]!.end + 2 })
    expect(measured[2]).toBe(frames[1]!.end)
  })

  test('of a frame within a frame lie within it, and an empty frame is one column wide', () => {
    const [outer, inner, without] = columnsOf(nested).frames
    expect(inner!.depth).toBe(1)
    expect(inner!.begin).toBeGreaterThanOrEqual(outer!.begin)
    expect(inner!.end).toBeLessThanOrEqual(outer!.end)
    expect(outer!.bottom).toBeGreaterThanOrEqual(inner!.bottom)
    expect(without!.end - without!.begin).toBe(1)
  })

  test('of nothing are none', () => {
    expect(columnsOf(empty)).toEqual({ marks: [], frames: [], count: 0 })
  })

  test('of 20,000 gates are found in a moment', () => {
    const begun = performance.now()
    expect(columnsOf(long).count).toBe(20_001)
    expect(performance.now() - begun).toBeLessThan(2_000)
  })
})
