// `qjob admin contents`: where the large contents are, and the way back to the database.
import type { Command } from 'commander'
import type { Db } from '../../../../db/client.js'
import { ContentLost } from '../../../../db/content-store.js'
import { type ContentFigures, contentFigures } from '../../../../db/contents/content-figures.js'
import { bringBack } from '../../../../db/contents/content-moves.js'
import {
  type ContentRow,
  type ContentTable,
  contentTables,
  namedContents
} from '../../../../db/contents/content-rows.js'
import { sizeText } from '../../../../domain/teams/team-storage.js'
import { jsonOption, reportingFailures } from '../../session/service-command.js'
import { CliError } from '../../terminal/cli-error.js'
import { table } from '../../terminal/layout.js'
import { print, printJson, printNotice } from '../../terminal/output.js'
import { databaseHelp, inDatabase } from './admin-database.js'

const PAGE = 100

const names: Record<ContentTable, string> = {
  artifacts: 'results and files',
  task_values: 'values of tasks',
  capsule_files: 'files of capsules'
}

export function addContentsCommand(admin: Command): void {
  jsonOption(
    admin
      .command('contents')
      .description('show how much of the large contents is in the database and in the content store')
  )
    .option('--bring-back', 'first bring everything from the content store to the database')
    .addHelpText(
      'after',
      `${databaseHelp}\n\nBefore --bring-back, set CONTENT_STORE_MOVES=off and restart the workers, which would move contents again.`
    )
    .action((options: { json?: boolean; bringBack?: boolean }) => reportingFailures(options, () => contents(options)))
}

async function contents(options: { json?: boolean; bringBack?: boolean }): Promise<void> {
  const { figures, failures } = await inDatabase(async ({ db }) => {
    const failures = options.bringBack ? await bringAllBack(db) : []
    return { figures: await contentFigures(db), failures }
  })
  for (const failure of failures) printNotice(failure)
  if (options.json) printJson(JSON.stringify(view(figures)))
  else print(text(figures))
  if (failures.length > 0)
    throw new CliError(
      'refused',
      `${failures.length} contents stay in the content store, which does not have them as they were written`
    )
}

/** @returns what the store has lost. */
async function bringAllBack(db: Db): Promise<string[]> {
  const failures: string[] = []
  for (const table of contentTables) {
    let after: ContentRow | null = null
    for (;;) {
      const rows: ContentRow[] = await namedContents(db, table, { after, max: PAGE })
      for (const row of rows) {
        try {
          await bringBack(db, row)
        } catch (error) {
          if (!(error instanceof ContentLost)) throw error
          failures.push(`${row.name}: ${error.message}`)
        }
      }
      if (rows.length < PAGE) break
      after = rows.at(-1)!
    }
  }
  return failures
}

const view = ({ tables, unnamedObjects }: ContentFigures) => ({
  tables: tables.map(({ table, inRows, both, inStore }) => ({ table, in_rows: inRows, both, in_store: inStore })),
  unnamed_objects: unnamedObjects
})

function text({ tables, unnamedObjects }: ContentFigures): string {
  const amount = ({ contents, bytes }: { contents: number; bytes: number }) => `${contents} (${sizeText(bytes)})`
  const rows = tables.map(({ table, inRows, both, inStore }) => [
    names[table],
    amount(inRows),
    amount(both),
    amount(inStore)
  ])
  const heads = ['WHAT', 'IN THE DATABASE', 'OF THESE IN BOTH', 'IN THE STORE ALONE']
  return `${table(
    heads.map((heading, at) => ({ heading, least: heading.length, right: at > 0 })),
    rows
  )}\n${unnamedObjects} objects of the store belong to no content and wait for their removal.`
}
