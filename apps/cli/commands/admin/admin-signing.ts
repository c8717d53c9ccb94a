// `qjob admin rotate-signing-key`: a new key for seals and checkpoints of audit trails.
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { commandLine } from '../../../../db/audit/admin-audit.js'
import { rotateSigningKey } from '../../../../services/keys/signer.js'
import { jsonOption, reported } from '../../session/service-command.js'
import { print } from '../../terminal/output.js'
import { databaseHelp, inDatabase } from './admin-database.js'
import { readRing } from './rotate-keys.js'

const help = `
What the old key signed stays valid, and its public half stays listed (qjob keys). Every api and worker signs with the new
key from then on, without a restart. The private half is sealed with the first key of SECRETS_KEYS, else of keys/secrets in
DATA_DIR (.data).`

export function addSigningKeyCommand(admin: Command): void {
  jsonOption(
    admin.command('rotate-signing-key').description('make a new key that signs seals and checkpoints of audit trails')
  )
    .addHelpText('after', databaseHelp + help)
    .action((options: { json?: boolean }) => reported(options, () => rotate(options)))
}

async function rotate({ json }: { json?: boolean }): Promise<void> {
  const keyRing = readRing(resolve(process.env.DATA_DIR || '.data'))
  const { keyId, retired } = await inDatabase(({ db }) => rotateSigningKey(db, keyRing, commandLine))
  if (json) return print(JSON.stringify({ key_id: keyId, retired }))
  print(`${keyId} signs from now on${retired ? `; ${retired} is retired, and what it signed stays valid` : ''}.`)
}
