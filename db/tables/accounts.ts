// Accounts: users, sessions, identities, access codes, teams, members.

import { sql } from 'drizzle-orm'
import { boolean, index, integer, pgTable, primaryKey, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { roles } from '../../domain/teams/role.js'
import { bytea, instant } from './columns.js'

export const users = pgTable(
  'users',
  {
    id: uuid('id').primaryKey(),
    // Stored as its owner wrote it; compared in lower case.
    email: text('email').notNull(),
    username: text('username').notNull(),
    displayName: text('display_name'),
    // Null for users who sign in only through an identity provider.
    passwordHash: text('password_hash'),
    // When the owner proved that they receive mail at the address.
    emailVerifiedAt: instant('email_verified_at'),
    isPlatformAdmin: boolean('is_platform_admin').notNull().default(false),
    bio: text('bio'),
    avatarUrl: text('avatar_url'),
    website: text('website'),
    location: text('location'),
    githubUsername: text('github_username'),
    twitterUsername: text('twitter_username'),
    linkedinUrl: text('linkedin_url'),
    isPublic: boolean('is_public').notNull().default(false),
    createdAt: instant('created_at').notNull().defaultNow()
  },
  (table) => [
    uniqueIndex('users_email_key').on(sql`lower(${table.email})`),
    uniqueIndex('users_username_key').on(sql`lower(${table.username})`)
  ]
)

// Only the owner knows the token of a session. The row stores its SHA-256.
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
    // Revoking all sessions of a user.
    index('sessions_user_id_idx').on(table.userId)
  ]
)

// The token is mailed to the owner of an account. The row stores its SHA-256.
export const passwordResets = pgTable(
  'password_resets',
  {
    tokenHash: bytea('token_hash').primaryKey(),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    expiresAt: instant('expires_at').notNull(),
    usedAt: instant('used_at'),
    createdAt: instant('created_at').notNull().defaultNow()
  },
  (table) => [
    // Using a reset invalidates all others of its user.
    index('password_resets_user_id_idx').on(table.userId)
  ]
)

// A user's identity at an identity provider (OpenID Connect).
export const identities = pgTable(
  'identities',
  {
    issuer: text('issuer').notNull(),
    subject: text('subject').notNull(),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    createdAt: instant('created_at').notNull().defaultNow()
  },
  (table) => [primaryKey({ columns: [table.issuer, table.subject] }), index('identities_user_id_idx').on(table.userId)]
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
    // Set on the team that a user's first write creates. At most one per user.
    personalOf: uuid('personal_of').references(() => users.id, { onDelete: 'set null' }),
    suspendedAt: instant('suspended_at'),
    suspendedReason: text('suspended_reason'),
    // Set by administrators; null for the limit of the installation. How many jobs the team can have under way, and how
    // many slots of the executor a worker gives it at once.
    runningJobsMax: integer('running_jobs_max'),
    slotsMax: integer('slots_max'),
    // A deleted team has no members. Its jobs are kept for accounting until their retention ends.
    deletedAt: instant('deleted_at'),
    createdAt: instant('created_at').notNull().defaultNow()
  },
  (table) => [
    uniqueIndex('teams_personal_of_key').on(table.personalOf),
    // The limits that every worker reads again and again.
    index('teams_slots_max_idx').on(table.slotsMax).where(sql`slots_max is not null`)
  ]
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
    role: text('role', { enum: roles }).notNull(),
    joinedAt: instant('joined_at').notNull().defaultNow()
  },
  (table) => [
    primaryKey({ columns: [table.teamId, table.userId] }),
    // The teams of a user, in the order of joining.
    index('members_user_id_idx').on(table.userId, table.joinedAt),
    uniqueIndex('members_one_owner_key').on(table.teamId).where(sql`role = 'owner'`)
  ]
)
