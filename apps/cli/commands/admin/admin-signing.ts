// `qjob admin rotate-signing-key`: creates a new key that signs seals and audit checkpoints.

import type { Command } from 'commander'
import { commandLine } from '../../../../db/audit/admin-audit.js'
import { rotateSigningKey } from '../../../../services/keys/signer.js'
import { jsonOption, reportingFailures } from '../../session/service-command.js'
import { dataFolder } from '../../stack/project.js'
import { print, printJson } from '../../terminal/output.js'
import { databaseHelp, inDatabase } from './admin-database.js'
import { readRing } from './rotate-keys.js'

const help =
  '\nSignatures of the old key stay valid, and qjob signing-keys still lists its public half. Every api and worker ' +
  'signs with the new key at once, without a restart. The private half is encrypted with the first key of ' +
  'SECRETS_KEYS, or else of keys/secrets in DATA_DIR (.data).'

export function addSigningKeyCommand(admin: Command): void {
  jsonOption(admin.command('rotate-signing-key').description('create a new key that signs seals and audit checkpoints'))
    .addHelpText('after', databaseHelp + help)
    .action((options: { json?: boolean }) => reportingFailures(options, () => rotate(options)))
}

async function rotate({ json }: { json?: boolean }): Promise<void> {
  const keyRing = readRing(dataFolder())
  const { keyId, retired } = await inDatabase(({ db }) => rotateSigningKey(db, keyRing, commandLine))
  if (json) return printJson(JSON.stringify({ key_id: keyId, retired }))
  print(`${keyId} is the signing key now${retired ? `; ${retired} is retired, and its signatures stay valid` : ''}.`)
}
