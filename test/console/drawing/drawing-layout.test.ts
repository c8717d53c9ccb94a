import { describe, expect, test } from '@jest/globals'
import type { Circuit } from '../../../apps/console/circuit/circuit.js'
import { drawCircuit } from '../../../apps/console/drawing/drawing-layout.js'
import { drawingPages, pageOfLine } from '../../../apps/console/drawing/drawing-pages.js'
import { type DrawnMark, drawnPage } from '../../../apps/console/drawing/drawn-page.js'
import { bell, circuitOf, empty, hostile, isOne, long, nested, qft, signs, teleportation } from './circuits.js'

const all = { bell, qft, teleportation, nested, signs, hostile, empty }

/** All numbers in a value, however deep. */
const numbersOf = (value: unknown): number[] =>
  typeof value === 'number'
    ? [value]
    : typeof value === 'object' && value !== null
      ? Object.values(value).flatMap(numbersOf)
      : []

/** All columns as one page. */
function drawn(circuit: Circuit) {
  const { wires, edges, labelWidth, grid, columns } = drawCircuit(circuit)
  const page = drawnPage(drawCircuit(circuit), { begin: 0, end: columns.count })
  return { wires, edges, labelWidth, height: grid.height, ...page }
}

describe('a drawing', () => {
  test('has qubit 0 at the top, and registers below the qubits', () => {
    const { wires } = drawn(teleportation)
    expect(wires.map(({ kind, label, bits }) => `${kind} ${label} ${bits}`)).toEqual([
      'qubit q[0] 1',
      'qubit q[1] 1',
      'qubit q[2] 1',
      'classical m 2',
      'classical out 1'
    ])
    const ys = wires.map(({ y }) => y)
    expect(ys).toEqual([...ys].sort((one, other) => one - other))
  })

  test('reports of each mark where its statement stands', () => {
    expect(drawn(bell).marks.map(({ position }) => position.line)).toEqual([3, 4, 5, 6])
  })

  test('measures into the bit of its register', () => {
    const { marks, wires } = drawn(teleportation)
    const measured = marks.filter((mark) => mark.kind === 'measure') as (DrawnMark & { kind: 'measure' })[]
    expect(measured.map(({ bit }) => bit)).toEqual(['0', '1', null])
    expect(measured.map(({ toY }) => toY)).toEqual([wires[3]!.y, wires[3]!.y, wires[4]!.y])
  })

  test('numbers the wires of a box that others lie between', () => {
    const { marks, wires } = drawn(signs)
    const rzz = marks.find((mark) => mark.kind === 'gate' && mark.label === 'rzz(0.5)') as DrawnMark & { kind: 'gate' }
    expect(rzz.ports).toEqual([
      { y: wires[0]!.y, text: '0' },
      { y: wires[2]!.y, text: '1' }
    ])
    expect(rzz.box).toMatchObject({ top: wires[0]!.y - 14, bottom: wires[2]!.y + 14 })
  })

  test('has a place of its own for a phase of the whole state', () => {
    const { marks, wires } = drawn(signs)
    const phase = marks.find((mark) => mark.kind === 'gate' && mark.label === 'gphase(π)') as DrawnMark & {
      kind: 'gate'
    }
    expect(phase.targets[0]).toBeLessThan(wires[0]!.y - 20)
    expect(drawn(bell).wires[0]!.y).toBeLessThan(wires[0]!.y)
  })

  test('gives a long label the room that it takes', () => {
    const { marks, edges } = drawn(qft)
    for (const mark of marks)
      if (mark.kind === 'gate' && mark.box)
        expect(2 * mark.box.halfWidth).toBeLessThan(edges[mark.column + 1]! - edges[mark.column]!)
  })

  test('frames what an if holds, with room for its condition', () => {
    const { frames, marks } = drawn(teleportation)
    expect(frames.map(({ label }) => label)).toEqual(['if m[1]', 'if m == 3'])
    expect(frames[1]!.elseX).toBeGreaterThan(frames[1]!.x)
    const inside = marks.filter(({ column }) => column >= frames[0]!.begin && column < frames[0]!.end)
    for (const { x } of inside) {
      expect(x).toBeGreaterThan(frames[0]!.x)
      expect(x).toBeLessThan(frames[0]!.x + frames[0]!.width)
    }
  })

  test('writes the conditions of frames that begin together below each other, above all gates', () => {
    const { frames, marks } = drawn(nested)
    const [outer, inner] = frames
    expect(inner!.y - outer!.y).toBeGreaterThanOrEqual(13)
    const first = marks.find((mark) => mark.kind === 'gate' && mark.label === 'h') as DrawnMark & { kind: 'gate' }
    expect(first.box!.top).toBeGreaterThan(outer!.y + 13)
  })

  test.each(Object.entries(all))('of %s has a finite place for everything, within its height', (_name, circuit) => {
    const drawing = drawn(circuit)
    expect(numbersOf(drawing).filter((number) => !Number.isFinite(number))).toEqual([])
    for (const { y } of drawing.wires) expect(y).toBeLessThan(drawing.height)
    for (const { x, width, y, height } of drawing.frames) {
      expect(width).toBeGreaterThan(0)
      expect(height).toBeGreaterThan(0)
      expect(y + height).toBeLessThanOrEqual(drawing.height)
      expect(x + width).toBeLessThanOrEqual(drawing.edges.at(-1)!)
    }
  })

  test('of names that are made to disturb is of limited size and cannot be reordered', () => {
    const drawing = drawn(hostile)
    const text = JSON.stringify(drawing)
    expect(text.length).toBeLessThan(20_000)
    expect(text).not.toMatch(/[\u202e\u2067]/)
    expect(drawing.labelWidth).toBeLessThan(200)
    expect(drawing.edges.at(-1)!).toBeLessThan(2_000)
    expect(drawing.wires[3]!.label.length).toBeLessThanOrEqual(18)
  })

  test('describes the circuit in words', () => {
    expect(drawCircuit(bell).description).toBe(
      '2 qubits, 2 classical bits, 2 gates in 4 columns. Qubit 0 is the topmost wire.'
    )
    expect(drawCircuit({ ...empty, measuresImplicitly: true }).description).toContain('measured at its end')
  })
})

describe('a long circuit', () => {
  const drawing = drawCircuit(long)
  const pages = drawingPages(drawing)

  test('is drawn a page at a time, and no gate is lost or drawn twice', () => {
    expect(pages.length).toBeGreaterThan(10)
    expect(pages[0]!.begin).toBe(0)
    expect(pages.at(-1)!.end).toBe(20_001)
    const keys = pages.flatMap((page) => drawnPage(drawing, page).marks.map(({ key }) => key))
    expect(keys).toHaveLength(20_001)
    expect(new Set(keys).size).toBe(20_001)
    for (const page of pages) expect(drawnPage(drawing, page).marks.length).toBeLessThanOrEqual(600)
  })

  test('finds the page of a line', () => {
    expect(pageOfLine(drawing, pages, 3)).toBe(0)
    expect(pageOfLine(drawing, pages, 20_003)).toBe(pages.length - 1)
    expect(pageOfLine(drawing, pages, 1)).toBeNull()
  })

  test('has frames on all pages that they reach into', () => {
    const framed = drawCircuit(
      circuitOf({ qubits: 1, clbits: 1 }, (program) => {
        program.h(0).branch(isOne(0), () => {
          for (let gate = 0; gate < 1_000; gate++) program.h(0)
        })
      })
    )
    const contents = drawingPages(framed).map((page) => drawnPage(framed, page))
    expect(contents.map(({ frames }) => frames.length)).toEqual(contents.map(() => 1))
    for (const { x, width, frames } of contents) {
      expect(frames[0]!.x).toBeGreaterThanOrEqual(x - 4)
      expect(frames[0]!.x + frames[0]!.width).toBeLessThanOrEqual(x + width + 4)
    }
    // The `if` stands in line 4.
    expect(pageOfLine(framed, drawingPages(framed), 4)).toBe(0)
  })

  test('of nothing is one empty page', () => {
    expect(drawingPages(drawCircuit(empty))).toEqual([{ begin: 0, end: 0 }])
  })
})

test('a circuit of 1,000 qubits and a frame of 100,000 gates are drawn', () => {
  const wide = circuitOf({ qubits: 1_000, clbits: 1 }, (program) => {
    program.branch(isOne(0), () => {
      for (let gate = 0; gate < 100_000; gate++) program.h(gate % 1_000)
    })
  })
  const drawing = drawn(wide)
  expect(drawing.marks).toHaveLength(100_000)
  expect(drawing.edges).toHaveLength(101)
})
