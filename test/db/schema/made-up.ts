// Migrations and seeds of versions that follow this one.
import { readSeeds, type Seeds } from '../../../db/migrate.js'
import { type Migration, readMigrations } from '../../../db/schema/migration-files.js'

export const own = readMigrations()
export const ownSeeds = readSeeds()

let numbers = own.length

/** A migration of a later version. */
export function laterMigration(statements: string[], marks: Partial<Migration> = {}): Migration {
  const number = numbers++
  const when = own.at(-1)!.when + number
  return {
    tag: `${number}_later`,
    statements,
    hash: `later ${number}`,
    when,
    minimum: null,
    concurrently: false,
    ...marks
  }
}

/** The seeds of a later version: another description of each template, and one more backend. */
export const laterSeeds = (versions: number): Seeds => ({
  version: ownSeeds.version + versions,
  backends: [...ownSeeds.backends, { ...ownSeeds.backends[0]!, slug: `later-${versions}` }],
  templates: ownSeeds.templates.map((template) => ({ ...template, description: `later ${versions}` }))
})
