// Rows of saved scripts, created by the product's own functions without the executor.
import { createHash } from 'node:crypto'
import type { Db } from '../../../db/client.js'
import { createScript, type NewScript } from '../../../db/scripts/script-changes.js'
import type { ScriptMetadata } from '../../../domain/scripts/script.js'
import { bellQasm3 } from './builders.js'

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

export const metadataOf = (content: string): ScriptMetadata => ({
  framework: 'openqasm',
  imports: [],
  functions: [],
  entry_point: 'circuit',
  qubits: 2,
  source_sha256: sha256(content)
})

/** A script of a team, by default a Bell pair in OpenQASM. @returns its id. */
export async function addScript(
  db: Db,
  given: Partial<NewScript> & Pick<NewScript, 'teamId' | 'userId'>,
  slug: string | null = null
): Promise<string> {
  const content = given.content ?? bellQasm3()
  const script: NewScript = {
    name: 'A Bell pair',
    description: '',
    scriptType: 'script',
    category: 'custom',
    framework: 'openqasm',
    content,
    requirements: null,
    metadata: metadataOf(content),
    ...given
  }
  return (await db.transaction((tx) => createScript(tx, script, slug))).id
}
