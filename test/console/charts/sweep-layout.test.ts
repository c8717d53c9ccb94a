import { describe, expect, test } from '@jest/globals'
import { SERIES_MAX, sweepLayout, titleOf } from '../../../apps/console/charts/sweep/sweep-layout.js'
import type { SweepPoint } from '../../../apps/console/results/sweep.js'

const one = (points: SweepPoint[]) => sweepLayout({ parameter: 'theta', series: [{ name: 'ZZ', points }] }, 640)

describe('the plot of a sweep', () => {
  test('has each value at its parameter, with an error bar of one standard error', () => {
    const { series, plot, yTicks } = one([
      { x: 0, y: 0, error: 0 },
      { x: 1, y: 1, error: 0.1 },
      { x: 2, y: -1, error: null }
    ])
    const [first, second, third] = series[0]!.points
    expect(second!.x - first!.x).toBeCloseTo(third!.x - second!.x, 9)
    expect(second!.y).toBeLessThan(first!.y)
    expect(third!.y).toBeGreaterThan(first!.y)
    const unit = first!.y - second!.y
    expect(second!.error!.from - second!.y).toBeCloseTo(unit / 10, 9)
    expect(second!.y - second!.error!.to).toBeCloseTo(unit / 10, 9)
    expect([first!.error, third!.error]).toEqual([null, null])
    expect([first, second, third].map((point) => titleOf(point!.value, 'ZZ', 'theta'))).toEqual([
      'ZZ at theta = 0: 0 (exact)',
      'ZZ at theta = 1: 1 ± 0.1',
      'ZZ at theta = 2: -1 (standard error not stated)'
    ])
    for (const { at } of yTicks) {
      expect(at).toBeGreaterThanOrEqual(plot.y)
      expect(at).toBeLessThanOrEqual(plot.y + plot.height)
    }
  })

  test('has texts next to each other in their order', () => {
    const { series, xTicks } = one(['b', 'a', 'c'].map((x, at) => ({ x, y: at, error: null })))
    expect(xTicks.map(({ label }) => label)).toEqual(['b', 'a', 'c'])
    const xs = series[0]!.points.map(({ x }) => x)
    expect(xs[1]! - xs[0]!).toBeCloseTo(xs[2]! - xs[1]!, 9)
  })

  test('draws no line through several values at one parameter', () => {
    expect(
      one([
        { x: 1, y: 1, error: null },
        { x: 0, y: 1, error: null }
      ]).series[0]!.path
    ).toMatch(/^M[\d. ]+L[\d. ]+$/)
    expect(
      one([
        { x: 1, y: 1, error: null },
        { x: 1, y: 2, error: null }
      ]).series[0]!.path
    ).toBe('')
  })

  test('says how many values are not numbers and how many observables it leaves out', () => {
    const points = [
      { x: 0, y: Number.NaN, error: null },
      { x: Infinity, y: 1, error: null },
      { x: 0, y: 1, error: null }
    ]
    const series = Array.from({ length: SERIES_MAX + 3 }, (_, at) => ({ name: `Z${at}`, points }))
    expect(sweepLayout({ parameter: 'theta', series }, 640)).toMatchObject({
      seriesNotShown: 3,
      pointsNotShown: 2 * SERIES_MAX
    })
  })

  test.each([
    ['no point', []],
    ['one point', [{ x: 5, y: 5, error: null }]],
    [
      'equal values',
      [
        { x: 1, y: 0, error: 0 },
        { x: 1, y: 0, error: 0 }
      ]
    ],
    [
      'huge values',
      [
        { x: -1e300, y: 1e308, error: 1e300 },
        { x: 1e300, y: -1e300, error: 0 }
      ]
    ]
  ])('of %s has a finite place for everything', (_what, points: SweepPoint[]) => {
    const { series, xTicks, yTicks } = one(points)
    const places = [
      ...series.flatMap(({ points }) => points.flatMap(({ x, y, error }) => [x, y, error?.from ?? 0, error?.to ?? 0])),
      ...[...xTicks, ...yTicks].map(({ at }) => at)
    ]
    expect(places.filter((place) => !Number.isFinite(place))).toEqual([])
  })
})
