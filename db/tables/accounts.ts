// People and how they come in: users, sessions, access codes, teams, members.
import { sql } from 'drizzle-orm'
import { boolean, index, integer, pgTable, primaryKey, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { bytea, instant } from './columns.js'

export const users = pgTable(
  'users',
  {
    id: uuid('id').primaryKey(),
    // As written by its owner; compared in lower case.
    email: text('email').notNull(),
    username: text('username').notNull(),
    displayName: text('display_name'),
    passwordHash: text('password_hash').notNull(),
    isPlatformAdmin: boolean('is_platform_admin').notNull().default(false),
    createdAt: instant('created_at').notNull().defaultNow()
  },
  (table) => [
    uniqueIndex('users_email_key').on(sql`lower(${table.email})`),
    uniqueIndex('users_username_key').on(sql`lower(${table.username})`)
  ]
)

// A session's token is known to its owner alone; the row holds the SHA-256 of it.
export const sessions = pgTable(
  'sessions',
  {
    id: uuid('id').primaryKey(),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    tokenHash: bytea('token_hash').notNull(),
    userAgent: text('user_agent'),
    createdAt: instant('created_at').notNull().defaultNow(),
    lastSeenAt: instant('last_seen_at').notNull().defaultNow(),
    revokedAt: instant('revoked_at')
  },
  (table) => [
    uniqueIndex('sessions_token_hash_key').on(table.tokenHash),
    // Ends all sessions of a user.
    index('sessions_user_id_idx').on(table.userId)
  ]
)

export const accessCodes = pgTable('access_codes', {
  code: text('code').primaryKey(),
  remainingUses: integer('remaining_uses').notNull(),
  expiresAt: instant('expires_at'),
  createdAt: instant('created_at').notNull().defaultNow()
})

export const teams = pgTable(
  'teams',
  {
    id: uuid('id').primaryKey(),
    name: text('name').notNull(),
    // Set on the one team that a user's first write makes; at most one per user.
    personalOf: uuid('personal_of').references(() => users.id, { onDelete: 'set null' }),
    suspendedAt: instant('suspended_at'),
    suspendedReason: text('suspended_reason'),
    createdAt: instant('created_at').notNull().defaultNow()
  },
  (table) => [uniqueIndex('teams_personal_of_key').on(table.personalOf)]
)

export const members = pgTable(
  'members',
  {
    teamId: uuid('team_id')
      .notNull()
      .references(() => teams.id, { onDelete: 'cascade' }),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    role: text('role', { enum: ['owner', 'admin', 'member'] }).notNull(),
    joinedAt: instant('joined_at').notNull().defaultNow()
  },
  (table) => [
    primaryKey({ columns: [table.teamId, table.userId] }),
    // The teams of a user, in the order of joining.
    index('members_user_id_idx').on(table.userId, table.joinedAt),
    uniqueIndex('members_one_owner_key').on(table.teamId).where(sql`role = 'owner'`)
  ]
)
