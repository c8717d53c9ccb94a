// The next release of the service, as far as its upgrade is concerned: the programs of this one, with changed workflow code and
// another migration.
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../../apps/cli/stack/project.js'
import { changedWorkflowBundle } from '../support/workflows/changed-bundle.js'

export interface Release {
  name: string
  /** The folder of package.json. */
  root: string
  workflowBundle: string
}

const MIGRATION = '9000_of_the_next_release'

export const thisRelease: Release = {
  name: 'this',
  root: projectRoot,
  workflowBundle: join(projectRoot, 'dist/workflows.js')
}

/** @param folder is made. */
export async function makeNextRelease(folder: string): Promise<Release> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const name of ['package.json', 'dist/apps', 'dist/services', 'db/migrations', 'db/seed'])
    cpSync(join(projectRoot, name), join(folder, name), { recursive: true })
  symlinkSync(join(projectRoot, 'node_modules'), join(folder, 'node_modules'))
  addMigration(join(folder, 'db/migrations'))
  const workflowBundle = join(folder, 'dist/workflows.js')
  cpSync(await changedWorkflowBundle(), workflowBundle)
  return { name: 'next', root: folder, workflowBundle }
}

function addMigration(folder: string): void {
  writeFileSync(join(folder, `${MIGRATION}.sql`), 'ALTER TABLE "jobs" ADD COLUMN "of_the_next_release" text;\n')
  const file = join(folder, 'meta/_journal.json')
  const journal = JSON.parse(readFileSync(file, 'utf8')) as { entries: { idx: number; when: number }[] }
  const last = journal.entries.at(-1)!
  journal.entries.push({ ...last, idx: last.idx + 1, when: last.when + 1, ...{ tag: MIGRATION } })
  writeFileSync(file, JSON.stringify(journal))
}
