// What belongs to a team besides its members: invitations, API keys, credentials of providers, webhooks.
import { sql } from 'drizzle-orm'
import { date, index, integer, jsonb, pgTable, primaryKey, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import type { CredentialState } from '../../domain/backends/provider-credentials.js'
import type { KeyKind, KeyTier } from '../../domain/teams/api-key.js'
import type { AssignableRole, StoredInvitationState } from '../../domain/teams/role.js'
import type { DeliveryEvent, DeliveryState, WebhookEvent } from '../../domain/teams/webhook.js'
import { teams, users } from './accounts.js'
import { bytea, instant, micro } from './columns.js'

export const invitations = pgTable(
  'invitations',
  {
    id: uuid('id').primaryKey(),
    teamId: uuid('team_id')
      .notNull()
      .references(() => teams.id, { onDelete: 'cascade' }),
    email: text('email').notNull(),
    role: text('role').$type<AssignableRole>().notNull(),
    message: text('message'),
    // SHA-256 of the token in the mailed link. Each mail has a new token.
    tokenHash: bytea('token_hash').notNull(),
    // An expired invitation is still `pending` here; `expires_at` decides.
    status: text('status').$type<StoredInvitationState>().notNull(),
    invitedBy: uuid('invited_by').references(() => users.id, { onDelete: 'set null' }),
    expiresAt: instant('expires_at').notNull(),
    createdAt: instant('created_at').notNull().defaultNow()
  },
  (table) => [
    uniqueIndex('invitations_token_hash_key').on(table.tokenHash),
    // One pending invitation per address and team.
    uniqueIndex('invitations_pending_key').on(table.teamId, sql`lower(${table.email})`).where(sql`status = 'pending'`)
  ]
)

export const apiKeys = pgTable(
  'api_keys',
  {
    id: uuid('id').primaryKey(),
    teamId: uuid('team_id')
      .notNull()
      .references(() => teams.id, { onDelete: 'cascade' }),
    // A key acts as its creator, and is invalid once its creator has left the team.
    createdBy: uuid('created_by')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    name: text('name').notNull(),
    // The first characters, by which its owner recognises it.
    prefix: text('prefix').notNull(),
    tokenHash: bytea('token_hash').notNull(),
    tier: text('tier').$type<KeyTier>().notNull(),
    kind: text('kind').$type<KeyKind>().notNull(),
    dailyLimit: micro('daily_limit_micro'),
    expiresAt: instant('expires_at'),
    lastUsedAt: instant('last_used_at'),
    revokedAt: instant('revoked_at'),
    createdAt: instant('created_at').notNull().defaultNow()
  },
  (table) => [
    uniqueIndex('api_keys_token_hash_key').on(table.tokenHash),
    // Keys of a team, newest first.
    index('api_keys_team_id_idx').on(table.teamId, table.id)
  ]
)

// What the jobs of a key with its own limit have spent and reserved on a UTC day.
export const apiKeyDays = pgTable(
  'api_key_days',
  {
    keyId: uuid('key_id')
      .notNull()
      .references(() => apiKeys.id, { onDelete: 'cascade' }),
    day: date('day', { mode: 'string' }).notNull(),
    spent: micro('spent_micro').notNull(),
    reserved: micro('reserved_micro').notNull()
  },
  (table) => [
    primaryKey({ columns: [table.keyId, table.day] }),
    // The proof of each minute.
    index('api_key_days_reserved_idx').on(table.keyId, table.day).where(sql`reserved_micro <> 0`)
  ]
)

// One value of a provider's credentials, encrypted with a data key of its own. A key of the key ring wraps the data
// key.
export const teamSecrets = pgTable(
  'team_secrets',
  {
    id: uuid('id').primaryKey(),
    teamId: uuid('team_id')
      .notNull()
      .references(() => teams.id, { onDelete: 'cascade' }),
    provider: text('provider').notNull(),
    keyName: text('key_name').notNull(),
    ringKeyId: text('ring_key_id').notNull(),
    wrappedKey: bytea('wrapped_key').notNull(),
    sealedValue: bytea('sealed_value').notNull(),
    validationStatus: text('validation_status').$type<CredentialState>().notNull(),
    validatedAt: instant('validated_at'),
    createdAt: instant('created_at').notNull().defaultNow(),
    updatedAt: instant('updated_at').notNull().defaultNow()
  },
  (table) => [
    uniqueIndex('team_secrets_name_key').on(table.teamId, table.provider, table.keyName),
    // Rotation: the rows that an old key of the ring still wraps.
    index('team_secrets_ring_key_id_idx').on(table.ringKeyId)
  ]
)

export const webhooks = pgTable(
  'webhooks',
  {
    id: uuid('id').primaryKey(),
    teamId: uuid('team_id')
      .notNull()
      .references(() => teams.id, { onDelete: 'cascade' }),
    url: text('url').notNull(),
    events: jsonb('events').$type<WebhookEvent[]>().notNull(),
    // The signing secret, sealed like a provider's credential.
    ringKeyId: text('ring_key_id').notNull(),
    wrappedKey: bytea('wrapped_key').notNull(),
    sealedSecret: bytea('sealed_secret').notNull(),
    createdBy: uuid('created_by').references(() => users.id, { onDelete: 'set null' }),
    createdAt: instant('created_at').notNull().defaultNow()
  },
  (table) => [index('webhooks_team_id_idx').on(table.teamId)]
)

// Deliveries to webhooks. A row is inserted with the change that it reports, and stays as the delivery log.
export const webhookDeliveries = pgTable(
  'webhook_deliveries',
  {
    id: uuid('id').primaryKey(),
    webhookId: uuid('webhook_id')
      .notNull()
      .references(() => webhooks.id, { onDelete: 'cascade' }),
    event: text('event').$type<DeliveryEvent>().notNull(),
    // JSON text, sent unchanged with every try.
    payload: text('payload').notNull(),
    state: text('state').$type<DeliveryState>().notNull(),
    tries: integer('tries').notNull().default(0),
    nextAt: instant('next_at').notNull(),
    lastStatus: integer('last_status'),
    lastError: text('last_error'),
    createdAt: instant('created_at').notNull().defaultNow(),
    deliveredAt: instant('delivered_at')
  },
  (table) => [
    // The pass of the sender.
    index('webhook_deliveries_next_at_idx').on(table.nextAt).where(sql`state = 'pending'`),
    // The log of a webhook, newest first.
    index('webhook_deliveries_webhook_id_idx').on(table.webhookId, table.id)
  ]
)
