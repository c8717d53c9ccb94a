// Where the evidence of a task lies in a capsule.
import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { evidenceFolder } from '../../../domain/capsules/evidence-folder.js'

test('a name of letters, digits, dashes and inner dots and spaces is the folder itself', () => {
  for (const name of ['main', 'task 1', 'a.b-c_d']) expect(evidenceFolder(name)).toBe(`tasks/${name}`)
})

test('no two names share a folder, and no folder leads out of its place', () => {
  const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 100 })
  const seen = new Map<string, string>()
  fc.assert(
    fc.property(fc.oneof(name, fc.stringMatching(/^[./~% :_-]{1,4}$/)), (task) => {
      const folder = evidenceFolder(task)
      expect(folder).toMatch(/^tasks\/([A-Za-z0-9_-]([A-Za-z0-9 _.-]*[A-Za-z0-9_-])?|~[A-Za-z0-9~_-]+)$/)
      expect(seen.get(folder) ?? task).toBe(task)
      seen.set(folder, task)
    }),
    { numRuns: 2_000 }
  )
})
