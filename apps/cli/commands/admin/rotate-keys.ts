// `qjob admin rotate-keys`: re-encrypts all stored credentials with the first key of SECRETS_KEYS, so that older keys can go.

import type { Command } from 'commander'
import { type KeyRing, readKeyRing } from '../../../../services/keys/key-ring.js'
import { type Rotation, rotateKeys } from '../../../../services/keys/key-rotation.js'
import { jsonOption, reportingFailures } from '../../session/service-command.js'
import { dataFolder } from '../../stack/project.js'
import { readSecretKeys, secretKeysFile } from '../../stack/secret-keys.js'
import { CliError } from '../../terminal/cli-error.js'
import { printNotice, printResult } from '../../terminal/output.js'
import { databaseHelp, inDatabase } from './admin-database.js'

const help =
  '\nThe keys are read from SECRETS_KEYS, or else from keys/secrets in DATA_DIR (.data). First add the new ' +
  'key at the front of the list that every api and worker reads, keep the old key after it, and restart ' +
  'them. The command can run while the service runs, and can be stopped and repeated. Keep an old key for ' +
  'as long as you keep backups from its time.'

export function addRotateKeysCommand(admin: Command): void {
  jsonOption(
    admin.command('rotate-keys').description('re-encrypt all stored credentials with the first key of SECRETS_KEYS')
  )
    .addHelpText('after', databaseHelp + help)
    .action((options: { json?: boolean }) => reportingFailures(options, () => rotate(options)))
}

async function rotate({ json }: { json?: boolean }): Promise<void> {
  const keyRing = readRing(dataFolder())
  const rotation = await inDatabase(({ db }) =>
    rotateKeys(
      db,
      keyRing,
      (rewrapped) => rewrapped > 0 && printNotice(`${rewrapped} re-wrapped with ${keyRing.currentKeyId}`)
    )
  )
  const view = rotationView(keyRing, rotation)
  if (rotation.unopenable.length > 0)
    throw new CliError(
      'refused',
      `no key in SECRETS_KEYS decrypts ${count(rotation.unopenable.length, 'value')}, which stay unchanged; encrypted with ` +
        `${[...new Set(rotation.unopenable.map(({ ringKeyId }) => ringKeyId))].join(', ')}: ` +
        'add the missing key again, or set the values again',
      view
    )
  printResult({ json }, JSON.stringify(view), () => summary(keyRing, rotation))
}

/** The keys of SECRETS_KEYS, or else of the stack's data folder. @throws CliError if there are none. */
export function readRing(dataDir: string): KeyRing {
  const text = process.env.SECRETS_KEYS?.trim() || readSecretKeys(dataDir)
  if (!text)
    throw new CliError(
      'usage',
      `no keys: set SECRETS_KEYS to the value that the api has, or set DATA_DIR to the data folder of the stack (there is no ${secretKeysFile(dataDir)})`
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
        ? `${keyId} is no longer in use: remove it from SECRETS_KEYS once every api and worker uses ${currentKeyId}, and keep it as long as you keep older backups.`
        : `${keyId} still wraps ${count(inUse[keyId]!, 'value')}: an api or worker still uses it. Restart them with ${currentKeyId} first in SECRETS_KEYS, and run this again.`
    )
  return lines.join('\n')
}

const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? '' : 's'}`
