import { expect, test } from '@jest/globals'
import { createShares } from '../../../domain/teams/shares.js'

test('a team takes half of the places, and there is one for every team that has none', () => {
  const shares = createShares(100)
  const fill = (team: string) => {
    let taken = 0
    while (shares.enter(team)) taken++
    return taken
  }
  expect([fill('a'), fill('b'), fill('c'), fill('d')]).toEqual([50, 25, 13, 6])
  for (const team of ['e', 'f', 'g', 'h']) expect(shares.enter(team)).toBe(true)
})

test('a place that is left is free for any team', () => {
  const shares = createShares(2)
  expect([shares.enter('a'), shares.enter('a'), shares.enter('b'), shares.enter('c')]).toEqual([
    true,
    false,
    true,
    false
  ])
  shares.leave('a')
  expect([shares.enter('b'), shares.enter('c')]).toEqual([false, true])
})
