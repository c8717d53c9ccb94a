// `qjob admin rotate-keys`: brings everything that is sealed under the first key of SECRETS_KEYS, so that older keys can go.
import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { Connection } from '../../../../db/client.js'
import { type KeyRing, readKeyRing } from '../../../../services/keys/key-ring.js'
import { type Rotation, rotateKeys } from '../../../../services/keys/key-rotation.js'
import { jsonOption, reported } from '../../session/service-command.js'
import { readSecretKeys, secretKeysFile } from '../../stack/secret-keys.js'
import { CliError } from '../../terminal/cli-error.js'
import { print, say } from '../../terminal/output.js'

/** Opens the database of the service for one piece of work. */
type InDatabase = <T>(work: (connection: Connection) => Promise<T>) => Promise<T>

const help = `
The keys are those of SECRETS_KEYS, else those in keys/secrets of DATA_DIR (.data). Before this, put the new key first
where every api and worker reads them, keep the old one behind it, and restart them. It can run beside them, be stopped,
and be run again. A key is needed as long as a backup from before is.`

export function addRotateKeysCommand(admin: Command, inDatabase: InDatabase, databaseHelp: string): void {
  jsonOption(
    admin.command('rotate-keys').description('bring all stored credentials under the first key of SECRETS_KEYS')
  )
    .addHelpText('after', databaseHelp + help)
    .action((options: { json?: boolean }) => reported(options, () => rotate(options, inDatabase)))
}

async function rotate({ json }: { json?: boolean }, inDatabase: InDatabase): Promise<void> {
  const keyRing = readRing(resolve(process.env.DATA_DIR || '.data'))
  const rotation = await inDatabase(({ db }) =>
    rotateKeys(db, keyRing, (rewrapped) => rewrapped > 0 && say(`${rewrapped} re-wrapped with ${keyRing.currentKeyId}`))
  )
  const view = rotationView(keyRing, rotation)
  if (rotation.unopenable.length > 0)
    throw new CliError(
      'refused',
      `no key of the ring opens ${count(rotation.unopenable.length, 'value')}, left unchanged; sealed with ` +
        `${[...new Set(rotation.unopenable.map(({ ringKeyId }) => ringKeyId))].join(', ')}: ` +
        'put the missing key back, or have the values set anew',
      view
    )
  print(json ? JSON.stringify(view) : summary(keyRing, rotation))
}

/** Those of SECRETS_KEYS, else of the stack's data folder. @throws CliError without any. */
export function readRing(dataDir: string): KeyRing {
  const text = process.env.SECRETS_KEYS?.trim() || readSecretKeys(dataDir)
  if (!text)
    throw new CliError(
      'usage',
      `no keys: set SECRETS_KEYS as the api has it, or name the data folder of the stack with DATA_DIR (there is no ${secretKeysFile(dataDir)})`
    )
  try {
    return readKeyRing(text)
  } catch (error) {
    throw new CliError('usage', (error as Error).message)
  }
}

const rotationView = (keyRing: KeyRing, { rewrapped, unopenable, inUse, removable }: Rotation) => ({
  current: keyRing.currentKeyId,
  rewrapped,
  unopenable: unopenable.map(({ table, id, ringKeyId }) => ({ table, id, ring_key_id: ringKeyId })),
  in_use: inUse,
  removable
})

function summary({ currentKeyId, keyIds }: KeyRing, { rewrapped, inUse, removable }: Rotation): string {
  const { team_secrets: secrets, webhooks, signing_keys: signing, sealed_mails: mails } = rewrapped
  const lines = [
    `${currentKeyId} wraps ${count(inUse[currentKeyId] ?? 0, 'value')}; re-wrapped now: ${count(secrets, 'credential')}, ${count(webhooks, 'webhook secret')}, ${count(signing, 'signing key')}, ${count(mails, 'mail')}.`
  ]
  for (const keyId of keyIds.slice(1))
    lines.push(
      removable.includes(keyId)
        ? `${keyId} is not needed any more: take it out of SECRETS_KEYS once every api and worker seals with ${currentKeyId}, and keep it as long as backups from before.`
        : `${keyId} still wraps ${count(inUse[keyId]!, 'value')}: an api or worker seals with it. Restart those with ${currentKeyId} first, and run this again.`
    )
  return lines.join('\n')
}

const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? '' : 's'}`
