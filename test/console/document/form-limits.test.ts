// The limits of forms come from the OpenAPI document alone. An attribute of the field would cut off what is pasted.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { projectRoot } from '../../../apps/cli/stack/project.js'
import { formLimits } from '../../../apps/console/api/schema.js'
import { limitsOf, limitText, listText } from '../../../apps/console/components/limits/limits.js'

const root = join(projectRoot, 'apps/console')
/** The types of the document, and what reads the limits in it. */
const others = /^(api\/schema\.ts|components\/limits\/)/
const sources = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
  (name) => /\.tsx?$/.test(name) && !others.test(name)
)

const lengthInWords = /\b\d[\d,_]* (?:characters|letters)\b|\bat (?:least|most) \d[\d,_]*(?! MiB)\b/i

test('no page has a length of its own, neither as an attribute nor in words', () => {
  expect(sources.length).toBeGreaterThan(300)
  const found = sources.flatMap((name) =>
    readFileSync(join(root, name), 'utf8')
      .split('\n')
      .filter((line) => !/^\s*(\/\/|\/?\*)/.test(line))
      .filter((line) => /\b(max|min)Length\b/.test(line) || lengthInWords.test(line.replace(/ \/\*\*.*/, '')))
      .map((line) => `${name}: ${line.trim()}`)
  )
  expect(found).toEqual([])
})

test('limits of parts of a body are found by their path', () => {
  expect(limitsOf('createCapsule', 'workflow.tasks[].name')).toEqual({ minLength: 1, maxLength: 100 })
  expect(limitsOf('adminSetBudget', 'ceilings.daily_usd')).toEqual(limitsOf('adminSetBudget', 'daily_usd'))
  expect(Object.keys(formLimits)).toContain('submitJob')
})

test('limits are told in words', () => {
  expect(limitText(limitsOf('publishCapsule', 'readme'))).toBe('at most 50,000 characters')
  expect(limitText(limitsOf('signUp', 'password'))).toBe('10 to 200 characters')
  expect(limitText(limitsOf('sealCapsule', 'margin'))).toBe('above 0, at most 1')
  expect(limitText(limitsOf('runCapsule', 'shots'))).toBe('1 to 100,000')
  expect(listText(limitsOf('publishCapsule', 'tags'), limitsOf('publishCapsule', 'tags[]'))).toBe(
    'at most 10, each of 1 to 50 characters'
  )
  expect(limitText({})).toBe('')
})
