// Saved scripts of teams. The row of a script holds its current version. Each version is also a row of
// `script_versions`, which the jobs that ran it name.
import { sql } from 'drizzle-orm'
import { boolean, index, integer, jsonb, pgTable, primaryKey, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import type { ScriptMetadata, ScriptType } from '../../domain/scripts/script.js'
import type { AnalysisCheck } from '../../domain/scripts/script-analysis.js'
import { teams, users } from './accounts.js'
import { instant, micro } from './columns.js'

export const scripts = pgTable(
  'scripts',
  {
    id: uuid('id').primaryKey(),
    // Null for a template of the platform.
    teamId: uuid('team_id').references(() => teams.id, { onDelete: 'cascade' }),
    // The owner.
    userId: uuid('user_id').references(() => users.id, { onDelete: 'set null' }),
    slug: text('slug').notNull(),
    name: text('name').notNull(),
    description: text('description').notNull(),
    scriptType: text('script_type').$type<ScriptType>().notNull(),
    category: text('category').notNull(),
    framework: text('framework').notNull(),
    content: text('content').notNull(),
    requirements: text('requirements'),
    // Hex SHA-256 of the content as UTF-8.
    sourceSha256: text('source_sha256').notNull(),
    metadata: jsonb('metadata').$type<ScriptMetadata>().notNull(),
    version: integer('version').notNull().default(1),
    isPublic: boolean('is_public').notNull().default(false),
    isHardcoded: boolean('is_hardcoded').notNull().default(false),
    // False when deleted. Jobs that ran the script still name it.
    isActive: boolean('is_active').notNull().default(true),
    publishedAt: instant('published_at'),
    createdAt: instant('created_at').notNull().defaultNow(),
    updatedAt: instant('updated_at').notNull().defaultNow()
  },
  (table) => [
    // A slug is unique within a team, and among templates. Deleting a script frees its slug.
    uniqueIndex('scripts_slug_key').on(table.teamId, table.slug).where(sql`is_active and team_id is not null`),
    uniqueIndex('scripts_template_slug_key').on(table.slug).where(sql`is_active and team_id is null`),
    // Lists: scripts of a team, and public ones.
    index('scripts_team_idx').on(table.teamId, table.id).where(sql`is_active`),
    index('scripts_public_idx').on(table.id).where(sql`is_active and is_public`),
    index('scripts_user_idx').on(table.userId)
  ]
)

export const scriptVersions = pgTable(
  'script_versions',
  {
    scriptId: uuid('script_id')
      .notNull()
      .references(() => scripts.id, { onDelete: 'cascade' }),
    version: integer('version').notNull(),
    content: text('content').notNull(),
    sourceSha256: text('source_sha256').notNull(),
    framework: text('framework').notNull(),
    requirements: text('requirements'),
    metadata: jsonb('metadata').$type<ScriptMetadata>().notNull(),
    createdBy: uuid('created_by').references(() => users.id, { onDelete: 'set null' }),
    createdAt: instant('created_at').notNull().defaultNow()
  },
  (table) => [primaryKey({ columns: [table.scriptId, table.version] })]
)

// The analysis of a script that a caller has seen before running it. A submission can name it, and is refused when the
// source has changed since.
export const scriptAnalyses = pgTable(
  'script_analyses',
  {
    id: uuid('id').primaryKey(),
    scriptId: uuid('script_id')
      .notNull()
      .references(() => scripts.id, { onDelete: 'cascade' }),
    // The team of the caller who requested the analysis.
    teamId: uuid('team_id')
      .notNull()
      .references(() => teams.id, { onDelete: 'cascade' }),
    sourceSha256: text('source_sha256').notNull(),
    backend: text('backend').notNull(),
    shots: integer('shots').notNull(),
    circuitCount: integer('circuit_count').notNull(),
    canRun: boolean('can_run').notNull(),
    checks: jsonb('checks').$type<AnalysisCheck[]>().notNull(),
    cost: micro('cost_micro').notNull(),
    createdAt: instant('created_at').notNull().defaultNow()
  },
  (table) => [
    index('script_analyses_script_idx').on(table.scriptId),
    index('script_analyses_created_at_idx').on(table.createdAt)
  ]
)
