// A team's credentials for a provider: sealed before they are stored, and opened only here.
import type { DbOrTx } from '../../db/client.js'
import { newId } from '../../db/ids.js'
import { ringKeysInUse } from '../../db/service/sealed-values.js'
import { deleteSecret, lockSecrets, putSecrets, sealedSecrets } from '../../db/teams/secrets.js'
import {
  type CredentialProvider,
  type Credentials,
  formatFault,
  missingFault,
  outlived
} from '../../domain/backends/provider-credentials.js'
import { ServiceError } from '../../domain/errors.js'
import { type KeyRing, secretContext, UnopenableError } from '../keys/key-ring.js'

/**
 * Creates or updates the named values; the others stay, except those that belong to a replaced one.
 * @param tx a transaction in which the team is locked for a write. @param values as `readCredentials` returns them.
 * @throws ServiceError `validation_error` when a format is wrong, or the provider would lack a value.
 */
export async function storeCredentials(
  tx: DbOrTx,
  keyRing: KeyRing,
  owner: { teamId: string; provider: CredentialProvider },
  values: Credentials
): Promise<void> {
  const { teamId, provider } = owner
  const stored = await lockSecrets(tx, teamId, provider)
  const fault = formatFault(provider, values) ?? missingFault(provider, [...stored.keys(), ...Object.keys(values)])
  if (fault) throw new ServiceError('validation_error', fault)
  for (const name of outlived(provider, values)) {
    const id = stored.get(name)
    if (id !== undefined) await deleteSecret(tx, id)
  }
  await putSecrets(
    tx,
    Object.entries(values).map(([keyName, value]) => {
      const row = { id: stored.get(keyName) ?? newId(), teamId, provider, keyName }
      return { ...row, ...keyRing.seal(value, secretContext(row)) }
    })
  )
}

/**
 * A team's stored values by name, `{}` if there are none. Keep them out of logs, job records, queues and workflow inputs.
 * @throws ServiceError `internal_error` when one cannot be opened: it was changed, or its key is not in the ring.
 */
export async function openCredentials(
  db: DbOrTx,
  keyRing: KeyRing,
  teamId: string,
  provider: CredentialProvider
): Promise<Credentials> {
  const values: Credentials = {}
  for (const row of await sealedSecrets(db, teamId, provider)) {
    try {
      values[row.keyName] = keyRing.open(row, secretContext(row))
    } catch (cause) {
      if (!(cause instanceof UnopenableError)) throw cause
      throw new ServiceError(
        'internal_error',
        `The stored ${row.keyName} of ${provider} cannot be opened: store it again, or ask the operator, whose log shows why`,
        {},
        { cause }
      )
    }
  }
  return values
}

/** Keys that seal values in the database and are missing from the ring. */
export async function missingRingKeys(db: DbOrTx, keyRing: KeyRing | null): Promise<string[]> {
  return Object.keys(await ringKeysInUse(db)).filter((keyId) => !keyRing?.keyIds.includes(keyId))
}
