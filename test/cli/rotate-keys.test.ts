// `qjob admin rotate-keys`, alone and while values are written at the same time.
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { ensureSecretKeys, secretKeysFile } from '../../apps/cli/stack/secret-keys.js'
import { newId } from '../../db/ids.js'
import { webhooks } from '../../db/tables/teams.js'
import { lockSecrets } from '../../db/teams/secrets.js'
import { type KeyRing, readKeyRing, webhookContext } from '../../services/keys/key-ring.js'
import { rotateKeys } from '../../services/keys/key-rotation.js'
import { createInstallationSigner } from '../../services/keys/signer.js'
import { missingRingKeys, openCredentials, storeCredentials } from '../../services/providers/credentials.js'
import { addPerson, addTeam } from '../support/jobs/rows.js'
import { longTest } from '../support/lane.js'
import { untilLockAwaited } from '../support/postgres/lock-waits.js'
import { createTestDatabase } from '../support/stack/database.js'
import { Shell } from './qjob.js'

const database = await createTestDatabase('rotate_keys')
const { db } = database
const shell = new Shell({ DATABASE_URL: database.url })
afterAll(async () => {
  shell.remove()
  await database.drop()
})

const entry = (id: string): string => `${id}:${randomBytes(32).toString('base64')}`
const [k1, k2] = [entry('k1'), entry('k2')]
const ring = { old: readKeyRing(k1), both: readKeyRing(`${k2},${k1}`), new: readKeyRing(k2) }
const owner = await addPerson(db)
const silent = () => {}

const save = (keyRing: KeyRing, teamId: string, apiKey: string) =>
  db.transaction((tx) => storeCredentials(tx, keyRing, { teamId, provider: 'ionq' }, { api_key: apiKey }))
const read = async (keyRing: KeyRing, teamId: string) => (await openCredentials(db, keyRing, teamId, 'ionq')).api_key

async function addWebhook(keyRing: KeyRing, teamId: string, secret: string): Promise<string> {
  const id = newId()
  const { sealedValue, ...key } = keyRing.seal(secret, webhookContext({ teamId, id }))
  await db
    .insert(webhooks)
    .values({ id, teamId, url: 'https://example.org', events: [], sealedSecret: sealedValue, ...key })
  return id
}
const readWebhook = async (keyRing: KeyRing, id: string) => {
  const [row] = await db.select().from(webhooks).where(sql`id = ${id}`)
  return keyRing.open({ ...row!, sealedValue: row!.sealedSecret }, webhookContext(row!))
}

beforeEach(async () => {
  await db.execute(sql`delete from teams`)
})

test('after a rotation every value is readable with the new key alone', async () => {
  const teams = await Promise.all(Array.from({ length: 12 }, () => addTeam(db, owner)))
  for (const [at, teamId] of teams.entries()) await save(ring.old, teamId, `value-${at}-of-a-team`)
  const webhookId = await addWebhook(ring.old, teams[0]!, 'whsec_example')

  const ended = await shell.run(['admin', 'rotate-keys'], '', { SECRETS_KEYS: `${k2},${k1}` })
  expect(ended).toEqual({
    code: 0,
    stderr: '12 re-wrapped with k2\n13 re-wrapped with k2\n',
    stdout:
      'k2 wraps 13 values; re-wrapped now: 12 credentials, 1 webhook secret, 0 signing keys, 0 mails.\n' +
      'k1 is no longer in use: remove it from SECRETS_KEYS once every api and worker uses k2, and keep it as long as you keep older backups.\n'
  })
  for (const [at, teamId] of teams.entries()) expect(await read(ring.new, teamId)).toBe(`value-${at}-of-a-team`)
  expect(await readWebhook(ring.new, webhookId)).toBe('whsec_example')
  await expect(read(ring.old, teams[0]!)).rejects.toThrow('cannot be opened')

  const again = await shell.run(['admin', 'rotate-keys', '--json'], '', { SECRETS_KEYS: `${k2},${k1}` })
  expect(again).toEqual({ code: 0, stderr: '', stdout: expect.any(String) })
  expect(JSON.parse(again.stdout)).toEqual({
    current: 'k2',
    rewrapped: { team_secrets: 0, webhooks: 0, signing_keys: 0, sealed_mails: 0 },
    unopenable: [],
    in_use: { k2: 13 },
    removable: ['k1']
  })
})

test('the signing keys are rotated too, and continue to sign', async () => {
  const before = await createInstallationSigner(db, ring.old)()
  expect((await rotateKeys(db, ring.both, silent)).rewrapped).toMatchObject({ signing_keys: 1 })
  const after = await createInstallationSigner(db, ring.new)()
  expect(after.keyId).toBe(before.keyId)
  const text = Buffer.from('text')
  expect(after.sign(text)).toEqual(before.sign(text))
  await expect(createInstallationSigner(db, ring.old)()).rejects.toThrow('k2')
  await db.execute(sql`delete from signing_keys`)
})

longTest('values written during a rotation, with either ring, are readable at every moment', async () => {
  const teams = await Promise.all(Array.from({ length: 40 }, () => addTeam(db, owner)))
  for (const teamId of teams) await save(ring.old, teamId, 'value-00000')
  const latest = new Map(teams.map((teamId) => [teamId, 'value-00000']))
  let over = false
  let writes = 0
  let reads = 0
  // Each writer has its own teams, so that it knows what was written last.
  const writer = async (own: string[], keyRing: KeyRing) => {
    for (let at = 1; !over; at++)
      for (const teamId of own) {
        latest.set(teamId, `value-${String(at).padStart(5, '0')}`)
        await save(keyRing, teamId, latest.get(teamId)!)
        writes++
      }
  }
  const reader = async () => {
    while (!over)
      for (const teamId of teams) {
        expect(await read(ring.both, teamId)).toMatch(/^value-\d{5}$/)
        reads++
      }
  }
  const others = [writer(teams.slice(0, 10), ring.old), writer(teams.slice(10, 20), ring.both), reader()]
  let rewrapped = 0
  // Often enough that all have overlapped.
  for (let round = 0; round < 20 || writes < 200 || reads <= 100 || rewrapped <= 40; round++)
    rewrapped += (await rotateKeys(db, ring.both, silent)).rewrapped.team_secrets
  over = true
  await Promise.all(others)

  expect(reads).toBeGreaterThan(100)
  // More than once each, because the writer with the older ring kept writing rows with the old key.
  expect(rewrapped).toBeGreaterThan(40)
  const { inUse, removable } = await rotateKeys(db, ring.both, silent)
  expect([inUse, removable]).toEqual([{ k2: 40 }, ['k1']])
  for (const teamId of teams) expect(await read(ring.new, teamId)).toBe(latest.get(teamId))
})

test("a value that is replaced between the rotation's read and write keeps its own key", async () => {
  const teamId = await addTeam(db, owner)
  await save(ring.old, teamId, 'the-first-value')
  // The rotation reads the old row, and waits for the transaction that changes it.
  let rotating: ReturnType<typeof rotateKeys>
  await db.transaction(async (tx) => {
    await storeCredentials(tx, ring.old, { teamId, provider: 'ionq' }, { api_key: 'the-second-value' })
    rotating = rotateKeys(db, ring.both, silent)
    await untilLockAwaited(db)
  })
  expect((await rotating!).rewrapped.team_secrets).toBe(1)
  expect(await read(ring.new, teamId)).toBe('the-second-value')
})

test('a rotation waits for a writer that has looked up the row it will replace', async () => {
  const teamId = await addTeam(db, owner)
  await save(ring.old, teamId, 'the-first-value')
  let rotating: ReturnType<typeof rotateKeys>
  await db.transaction(async (tx) => {
    await lockSecrets(tx, teamId, 'ionq')
    rotating = rotateKeys(db, ring.both, silent)
    await untilLockAwaited(db)
    await storeCredentials(tx, ring.old, { teamId, provider: 'ionq' }, { api_key: 'the-second-value' })
  })
  expect((await rotating!).rewrapped.team_secrets).toBe(1)
  expect(await read(ring.new, teamId)).toBe('the-second-value')
})

test('parallel rotations, and one that continues after another was stopped, rewrite each row once', async () => {
  const teams = await Promise.all(Array.from({ length: 30 }, () => addTeam(db, owner)))
  for (const [at, teamId] of teams.entries()) await save(at < 20 ? ring.old : ring.new, teamId, `value-${at}-of-a-team`)
  const both = await Promise.all([rotateKeys(db, ring.both, silent), rotateKeys(db, ring.both, silent)])
  expect(both[0]!.rewrapped.team_secrets + both[1]!.rewrapped.team_secrets).toBe(20)
  for (const [at, teamId] of teams.entries()) expect(await read(ring.new, teamId)).toBe(`value-${at}-of-a-team`)
})

test('a rotation of more rows than a batch completes', async () => {
  const teamId = await addTeam(db, owner)
  const values = Array.from({ length: 450 }, (_, at) => {
    const id = newId()
    const { sealedValue, ...key } = ring.old.seal(`whsec_${at}`, webhookContext({ teamId, id }))
    return { id, teamId, url: 'https://example.org', events: [], sealedSecret: sealedValue, ...key }
  })
  await db.insert(webhooks).values(values)
  const heard: number[] = []
  const { rewrapped, inUse } = await rotateKeys(db, ring.both, (done) => heard.push(done))
  expect([rewrapped, inUse, heard]).toEqual([
    { team_secrets: 0, webhooks: 450, signing_keys: 0, sealed_mails: 0 },
    { k2: 450 },
    [200, 400, 450]
  ])
  expect(await readWebhook(ring.new, values[449]!.id)).toBe('whsec_449')
})

describe('a value that no key decrypts', () => {
  test('stays unchanged, is named, and does not stop the rotation of other values', async () => {
    const [good, moved, lost] = await Promise.all([addTeam(db, owner), addTeam(db, owner), addTeam(db, owner)])
    for (const teamId of [good, moved]) await save(ring.old, teamId, 'the-stored-value')
    await save(readKeyRing(entry('k0')), lost, 'the-stored-value')
    await db.execute(sql`update team_secrets set key_name = 'other' where team_id = ${moved}`)
    const before = await db.execute(sql`select * from team_secrets where team_id <> ${good} order by id`)

    const ended = await shell.run(['admin', 'rotate-keys', '--json'], '', { SECRETS_KEYS: `${k2},${k1}` })
    expect(ended.code).toBe(4)
    const { error } = JSON.parse(ended.stdout)
    expect(error).toMatchObject({
      current: 'k2',
      rewrapped: { team_secrets: 1, webhooks: 0, signing_keys: 0, sealed_mails: 0 },
      in_use: { k0: 1, k1: 1, k2: 1 },
      removable: []
    })
    expect(error.message).toMatch(
      /^no key in SECRETS_KEYS decrypts 2 values, which stay unchanged; encrypted with (k0, k1|k1, k0): /
    )
    expect(error.unopenable).toHaveLength(2)
    expect(await missingRingKeys(db, ring.both)).toEqual(['k0'])
    expect(await missingRingKeys(db, null)).toEqual(['k0', 'k1', 'k2'])
    expect(await read(ring.new, good)).toBe('the-stored-value')
    expect([...(await db.execute(sql`select * from team_secrets where team_id <> ${good} order by id`))]).toEqual([
      ...before
    ])
  })

  test('an api that still encrypts with the older key is detected', async () => {
    const teamId = await addTeam(db, owner)
    await save(ring.old, teamId, 'the-stored-value')
    let over = false
    const oldApi = (async () => {
      while (!over) await save(ring.old, teamId, 'the-stored-value')
    })()
    // A value under the old key at the time of the count prevents the key from being reported as removable.
    try {
      for (let round = 0; round < 10; round++) {
        const { inUse, removable } = await rotateKeys(db, ring.both, silent)
        expect(removable).toEqual(inUse.k1 ? [] : ['k1'])
      }
    } finally {
      over = true
      await oldApi
    }
  })
})

describe('the key ring', () => {
  let dataDir: string
  beforeEach(() => {
    dataDir = mkdtempSync(join(shell.folder, 'data-'))
    mkdirSync(join(dataDir, 'keys'), { mode: 0o700 })
  })

  test('of a stack is created once, readable only for its owner, with a unique id', () => {
    const text = ensureSecretKeys(dataDir)
    const file = secretKeysFile(dataDir)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readKeyRing(text).currentKeyId).toMatch(/^k[0-9a-f]{8}$/)
    expect(ensureSecretKeys(dataDir)).toBe(text)
    chmodSync(file, 0o644)
    expect(ensureSecretKeys(dataDir)).toBe(text)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    rmSync(file)
    expect(readKeyRing(ensureSecretKeys(dataDir)).currentKeyId).not.toBe(readKeyRing(text).currentKeyId)
    writeFileSync(file, '\n')
    expect(() => ensureSecretKeys(dataDir)).toThrow('is empty: restore the keys')
    expect(readFileSync(file, 'utf8')).toBe('\n')
  })

  test('is read from the data folder if SECRETS_KEYS is not set', async () => {
    const old = ensureSecretKeys(dataDir)
    const teamId = await addTeam(db, owner)
    await save(readKeyRing(old), teamId, 'the-stored-value')
    writeFileSync(secretKeysFile(dataDir), `${k2}\n${old}`)
    const ended = await shell.run(['admin', 'rotate-keys', '--json'], '', { DATA_DIR: dataDir })
    expect(ended.code).toBe(0)
    expect(await read(ring.new, teamId)).toBe('the-stored-value')
  })

  test('that is missing or malformed stops the command without showing a key', async () => {
    const missing = await shell.run(['admin', 'rotate-keys'], '', { DATA_DIR: join(tmpdir(), 'none') })
    expect([missing.code, missing.stderr]).toEqual([
      2,
      expect.stringContaining('no keys: set SECRETS_KEYS to the value that the api has')
    ])
    const short = await shell.run(['admin', 'rotate-keys'], '', { SECRETS_KEYS: 'k1:c2VjcmV0' })
    expect([short.code, short.stderr]).toEqual([
      2,
      expect.stringContaining('SECRETS_KEYS: the key k1 must be 32 random bytes')
    ])
    expect(short.stderr).not.toContain('c2VjcmV0')
  })
})
