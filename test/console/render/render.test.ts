// The components as markup: what React makes of hostile texts, and what a strict policy of the page would refuse.
import { describe, expect, test } from '@jest/globals'
import { createElement, type ReactElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { Gantt } from '../../../apps/console/charts/gantt/gantt.js'
import { HistogramView } from '../../../apps/console/charts/histogram/histogram-view.js'
import { SweepPlot } from '../../../apps/console/charts/sweep/sweep-plot.js'
import { Timeline } from '../../../apps/console/charts/timeline/timeline.js'
import { CircuitDrawing } from '../../../apps/console/drawing/circuit-drawing.js'
import { bellPair, counts, dataOf, register } from '../charts/histogram-scene.js'
import { hostile as hostileCircuit, nested, qft, signs } from '../drawing/circuits.js'

const script = '"><script>alert(1)</script><img src=x onerror=alert(1)>\u202e'
const T = Date.UTC(2026, 10, 21)

const drawing = (circuit: typeof qft) => createElement(CircuitDrawing, { circuit, selectedLine: 3 })

const pictures: [string, ReactElement][] = [
  [
    'a histogram',
    createElement(HistogramView, { title: script, data: dataOf({ [script]: counts({ [script]: 5 }) }), note: script })
  ],
  [
    'two histograms with registers',
    createElement(HistogramView, {
      title: 'Compare',
      data: dataOf({ browser: bellPair, [script]: counts({ '00': 5 }) }, [register(script, 1), register('d', 1)])
    })
  ],
  [
    'a timeline',
    createElement(Timeline, {
      title: script,
      now: T + 5_000,
      data: {
        statuses: [
          { status: 'pending', at: T, reason: script },
          { status: script, at: T + 1_000 }
        ],
        attempts: [{ number: 1, state: script, startedAt: T + 1_000, endedAt: T + 2_000, backoffMs: 500 }],
        isOver: false
      }
    })
  ],
  [
    'a Gantt chart',
    createElement(Gantt, {
      title: script,
      now: T + 5_000,
      data: {
        tasks: [
          { id: script, key: script, name: script, state: 'running', dependsOn: [script], startedAt: T, endedAt: null }
        ],
        attempts: [{ taskId: script, number: 1, state: script, startedAt: T, endedAt: null }]
      }
    })
  ],
  [
    'a plot of a sweep',
    createElement(SweepPlot, {
      title: script,
      data: {
        parameter: script,
        series: [
          {
            name: script,
            points: [
              { x: script, y: 1, error: 0.1 },
              { x: 2, y: 1, error: null }
            ]
          }
        ]
      }
    })
  ],
  ['a circuit', drawing(qft)],
  ['a circuit with conditions', drawing(nested)],
  ['a circuit of all signs', drawing(signs)],
  ['a hostile circuit', drawing(hostileCircuit)]
]

describe.each(pictures)('%s', (_name, picture) => {
  const markup = renderToStaticMarkup(picture)

  test('has no script, no style attribute and no handler in its markup', () => {
    // Within quotes and between tags, so that a text that names them does not count.
    const tags = markup
      .match(/<[^>]*>/g)!
      .join('')
      .replace(/"[^"]*"/g, '""')
    expect(tags).not.toMatch(/<script|<img|<style|<foreignObject|\sstyle=|\son[a-z]+=|href=/i)
    expect(markup).not.toContain('\u202e')
  })

  test('has no place that is not a number', () => {
    expect(markup).not.toMatch(/NaN|Infinity|undefined/)
  })

  test('has a name', () => {
    expect(markup).toMatch(/<title|aria-label/)
  })
})

test('a gate says in words what it is, one of all is reached by the tab key, and those of the selected line are lit', () => {
  const markup = renderToStaticMarkup(drawing(qft))
  expect(markup).toMatch(/role="button"[^>]*><title>h on q\[0\], line 3<\/title>/)
  expect(markup.match(/role="button" tabindex="0"/g)).toHaveLength(1)
  const marks = markup.match(/<g data-mark="\d+"[^>]*>/g)!
  expect(marks).toHaveLength(23)
  const [lit, ...others] = marks.map((mark) => /class="([^"]*)"/.exec(mark)![1])
  expect(others).not.toContain(lit)
})

test('a histogram offers the order of Qiskit for bits of a circuit alone', () => {
  const view = (order: 'qubit 0 leftmost' | 'unstated') =>
    renderToStaticMarkup(
      createElement(HistogramView, { title: 'Counts', data: { ...dataOf({ job: bellPair }), order } })
    )
  expect(view('qubit 0 leftmost')).toContain('As Qiskit prints it')
  expect(view('qubit 0 leftmost')).toContain('Qubit 0 leftmost.')
  expect(view('unstated')).not.toContain('As Qiskit prints it')
})

test('two runs of one name stay two', () => {
  const sets = [bellPair, counts({ '00': 5 })].map((counts) => ({ name: 'bell', counts }))
  const markup = renderToStaticMarkup(createElement(HistogramView, { title: 'Compare', data: { ...dataOf({}), sets } }))
  expect(markup).toContain('bell (1,000 shots)</th><th scope="col">bell (5 shots)')
})

test('a histogram has its numbers in a table too', () => {
  const markup = renderToStaticMarkup(
    createElement(HistogramView, { title: 'Counts', data: dataOf({ job: bellPair }) })
  )
  expect(markup).toMatch(/<th scope="row">00<\/th><td>503 \(50\.3 %; 95 %: 47\.2 to 53\.4 %\)<\/td>/)
})
