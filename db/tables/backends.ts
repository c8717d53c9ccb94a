// The catalogue of backends. The migration seeds it from db/seed/backends.json; afterwards the rows are authoritative.
import { boolean, integer, jsonb, pgTable, primaryKey, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { backendStatuses, deviceTypes } from '../../domain/backends/backend.js'
import { instant, micro } from './columns.js'

export const backends = pgTable(
  'backends',
  {
    id: uuid('id').primaryKey(),
    slug: text('slug').notNull(),
    name: text('name').notNull(),
    provider: text('provider').notNull(),
    deviceType: text('device_type', { enum: deviceTypes }).notNull(),
    providerTargetId: text('provider_target_id').notNull(),
    region: text('region'),
    qubitCount: integer('qubit_count'),
    topology: text('topology'),
    isAvailable: boolean('is_available').notNull(),
    isRetired: boolean('is_retired').notNull(),
    status: text('status', { enum: backendStatuses }).notNull(),
    statusUpdatedAt: instant('status_updated_at').notNull().defaultNow(),
    taskFee: micro('task_fee_micro').notNull(),
    perShot: micro('per_shot_micro').notNull(),
    minimumCost: micro('minimum_cost_micro').notNull(),
    // Of devices that are billed by time; both are set, or neither.
    perSecond: micro('per_second_micro'),
    secondsMax: integer('seconds_max'),
    maxShots: integer('max_shots'),
    maxQubits: integer('max_qubits'),
    engine: text('engine'),
    description: text('description'),
    documentationUrl: text('documentation_url'),
    tags: jsonb('tags').$type<string[]>().notNull(),
    displayOrder: integer('display_order').notNull(),
    isRecommended: boolean('is_recommended').notNull(),
    supportedProgramTypes: jsonb('supported_program_types').$type<string[]>().notNull(),
    supportsNoiseModel: boolean('supports_noise_model').notNull(),
    supportsStateVector: boolean('supports_state_vector').notNull(),
    // The queue that the provider last reported, and when.
    queueLength: integer('queue_length'),
    queueTimeSeconds: integer('queue_time_seconds'),
    queueUpdatedAt: instant('queue_updated_at'),
    nativeGates: jsonb('native_gates').$type<string[] | null>(),
    updatedAt: instant('updated_at').notNull().defaultNow()
  },
  (table) => [uniqueIndex('backends_slug_key').on(table.slug)]
)

// Every version of a backend's catalogue entry, with the time from which it held. A trigger writes it (db/migrations).
// `entry` omits the status and the queue, which change by the minute.
export const backendVersions = pgTable(
  'backend_versions',
  {
    slug: text('slug').notNull(),
    validFrom: instant('valid_from').notNull(),
    entry: jsonb('entry').$type<Record<string, unknown>>().notNull()
  },
  (table) => [primaryKey({ columns: [table.slug, table.validFrom] })]
)
