import { expect, test } from '@jest/globals'
import { ACTIVE_MS, createActiveTeams, placesAmongTeams } from '../../../domain/teams/active-teams.js'

test('while another team is active, a team can use all places but one, and always one', () => {
  expect([1, 2, 8].map(placesAmongTeams)).toEqual([1, 1, 7])
})

test('a team is active for others until a while after its latest use, never for itself', () => {
  const teams = createActiveTeams()
  expect(teams.anotherThan('a', 0)).toBe(false)
  teams.used('a', 0)
  teams.used('a', 1)
  expect([teams.anotherThan('a', 1), teams.anotherThan('b', 1)]).toEqual([false, true])
  teams.used('b', 10)
  teams.used('a', 20)
  expect(teams.anotherThan('a', 9 + ACTIVE_MS)).toBe(true)
  expect(teams.anotherThan('a', 10 + ACTIVE_MS)).toBe(false)
  expect(teams.anotherThan('b', 19 + ACTIVE_MS)).toBe(true)
})

test('of many teams, the latest use by any other counts', () => {
  const teams = createActiveTeams()
  for (const [at, team] of ['a', 'b', 'c', 'c'].entries()) teams.used(team, at)
  expect(teams.anotherThan('c', ACTIVE_MS)).toBe(true)
  expect(teams.anotherThan('c', 1 + ACTIVE_MS)).toBe(false)
})
