// Audit trails for tests: capsules created, sealed and recorded by the product's own functions.
import { createHash, generateKeyPairSync, sign as signWith } from 'node:crypto'
import { asc, eq, sql } from 'drizzle-orm'
import { dsseEnvelope, statement } from '../../../capsule-format/attestation.js'
import { sealPackage } from '../../../capsule-format/package.js'
import { appendAudit, type NewAuditEntry } from '../../../db/audit/audit.js'
import { checkpoint } from '../../../db/audit/audit-checkpoints.js'
import { createCapsule } from '../../../db/capsules/capsule-changes.js'
import type { Db, Tx } from '../../../db/client.js'
import { newId } from '../../../db/ids.js'
import { auditCheckpoints, auditEntries } from '../../../db/tables/audit.js'
import { capsuleFiles, capsuleSeals, capsules } from '../../../db/tables/capsules.js'
import type { ChainedEntry } from '../../../domain/audit/audit-action.js'
import type { Checkpoint } from '../../../domain/audit/audit-checkpoint.js'
import { readKeyRing } from '../../../services/keys/key-ring.js'
import { createInstallationSigner, keyIdOf, type Signer } from '../../../services/keys/signer.js'

export const auditRing = readKeyRing(`audit:${Buffer.from('a ring key of 32 bytes for audit').toString('base64')}`)

const sha256 = (content: Buffer | string): string => createHash('sha256').update(content).digest('hex')

export const auditSigner = (db: Db): Promise<Signer> => createInstallationSigner(db, auditRing)()

export const append = (db: Db, entry: Partial<NewAuditEntry> & { teamId: string }) =>
  db.transaction((tx) =>
    appendAudit(tx, {
      capsuleId: null,
      action: 'capsule.run',
      actor: 'system',
      previousState: null,
      newState: null,
      metadata: {},
      ...entry
    })
  )

/** A draft without tasks, with its first audit entry. */
export const addDraft = (db: Db, teamId: string, ownerId: string, name = 'a capsule'): Promise<string> =>
  db.transaction((tx) =>
    createCapsule(
      tx,
      {
        teamId,
        ownerId,
        state: 'draft',
        name,
        description: '',
        tags: ['test'],
        definition: { tasks: [] },
        maxBudget: 5_000_000n,
        retentionYears: 7,
        regulatoryFramework: null
      },
      { actor: `user:${ownerId}` }
    )
  )

/** Seals a draft with two files of evidence, like the service: seal, state, entry and checkpoint in one transaction. */
export async function seal(db: Db, signer: Signer, capsuleId: string): Promise<void> {
  await db.transaction(async (tx) => sealIn(tx, signer, capsuleId))
}

async function sealIn(tx: Tx, signer: Signer, capsuleId: string): Promise<void> {
  const [capsule] = await tx.select().from(capsules).where(eq(capsules.id, capsuleId))
  const evidence = ['tasks/main/result.json', 'tasks/main/timing.json'].map((name) => ({
    name,
    content: Buffer.from(JSON.stringify({ name, id: capsuleId }))
  }))
  const facts = { sealedAt: new Date(), sealedBy: newId(), exitCode: 0, margin: 0.05 }
  const sealed = await sealPackage({
    ...facts,
    name: capsule!.name,
    description: capsule!.description,
    tags: capsule!.tags,
    createdAt: capsule!.createdAt,
    createdBy: `user:${capsule!.ownerId}`,
    derivedFrom: null,
    definition: capsule!.definition,
    backends: [],
    maxBudgetUsd: 5,
    retentionYears: capsule!.retentionYears,
    regulatoryFramework: null,
    tasks: [],
    files: evidence,
    exitMessage: null
  })
  for (const { name, content } of evidence)
    await tx.insert(capsuleFiles).values({
      capsuleId,
      name,
      content,
      sha256: sha256(content),
      sizeBytes: content.length,
      mediaType: 'application/json'
    })
  const envelope = dsseEnvelope(statement({ ...sealed, ...facts, name: capsule!.name }), signer)
  await tx.insert(capsuleSeals).values({
    capsuleId,
    ...sealed,
    ...facts,
    exitMessage: null,
    margin: String(facts.margin),
    keyId: signer.keyId,
    envelope
  })
  await tx.update(capsules).set({ state: 'sealed' }).where(eq(capsules.id, capsuleId))
  const { teamId } = capsule!
  await appendAudit(tx, {
    teamId,
    capsuleId,
    action: 'capsule.sealed',
    actor: `user:${facts.sealedBy}`,
    previousState: 'draft',
    newState: 'sealed',
    metadata: { exit_code: 0 }
  })
  await checkpoint(tx, teamId, signer)
}

export interface History {
  entries: ChainedEntry[]
  checkpoints: Checkpoint[]
  /** Ids of the capsules in the order of their seals, which are the entries 11, 22 and 33. */
  sealed: string[]
}

/** 40 entries: three capsules are sealed on the way, and the last entry has a checkpoint of its own. */
export async function addHistory(db: Db, teamId: string, userId: string, signer: Signer): Promise<History> {
  const sealed: string[] = []
  for (let round = 0; round < 3; round++) {
    const id = await addDraft(db, teamId, userId)
    for (let run = 0; run < 9; run++)
      await append(db, { teamId, capsuleId: id, actor: `user:${userId}`, metadata: { run, cost_usd: run / 10 } })
    await seal(db, signer, id)
    sealed.push(id)
  }
  for (let more = 0; more < 7; more++) await append(db, { teamId, capsuleId: sealed[0]!, action: 'capsule.verified' })
  await db.transaction((tx) => checkpoint(tx, teamId, signer))
  return {
    sealed,
    entries: await db.select().from(auditEntries).where(eq(auditEntries.teamId, teamId)).orderBy(asc(auditEntries.seq)),
    checkpoints: await db.select().from(auditCheckpoints).where(eq(auditCheckpoints.teamId, teamId))
  }
}

/** A key that does not belong to this installation. */
export function foreignSigner(): Signer {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return {
    keyId: keyIdOf(publicKey),
    publicKeyPem: publicKey.export({ format: 'pem', type: 'spki' }) as string,
    sign: (bytes) => signWith(null, bytes, privateKey)
  }
}

const undone = new Error('rolled back')

/** Makes a change that needs full database access, reads the result, and rolls the change back. */
export async function tampered<T>(
  db: Db,
  harm: (tx: Tx) => Promise<unknown>,
  look: (tx: Tx) => Promise<T>
): Promise<T> {
  let seen: { value: T } | null = null
  await db
    .transaction(async (tx) => {
      // Disables triggers and foreign keys.
      await tx.execute(sql`set local session_replication_role = replica`)
      await harm(tx)
      seen = { value: await look(tx) }
      throw undone
    })
    .catch((error) => {
      if (error !== undone) throw error
    })
  return seen!.value
}
