// Every change of the seeds is a new version, since a process never replaces seeds of a higher version.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { readSeedVersions, seedFolder } from '../../../db/schema/migration-files.js'

/** Of the names and contents of all seed files. */
function digestOfSeeds(): string {
  const digest = createHash('sha256')
  const names = readdirSync(seedFolder(), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(json|py)$/.test(entry.name) && entry.name !== 'versions.json')
    .map((entry) => join(entry.parentPath, entry.name).slice(seedFolder().length + 1))
    .sort()
  for (const name of names) {
    const content = readFileSync(join(seedFolder(), name))
    digest.update(`${name} ${content.length}\n`).update(content)
  }
  return digest.digest('hex')
}

// When this fails, append the digest that it shows to db/seed/versions.json. The line before stays: a version that was
// released has it.
test('the last line of db/seed/versions.json is the digest of the seeds', () => {
  expect(readSeedVersions().at(-1)).toBe(digestOfSeeds())
})

test('no two versions are alike', () => {
  expect(new Set(readSeedVersions()).size).toBe(readSeedVersions().length)
})
