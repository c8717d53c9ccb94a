// Clones a capsule: creates a draft with the definition of another capsule, and nothing else from it.
import { actorText } from '../../../db/audit/audit.js'
import { createCapsule } from '../../../db/capsules/capsule-changes.js'
import { type CapsuleRow, loadSeal } from '../../../db/capsules/capsules.js'
import type { Tx } from '../../../db/client.js'
import { loadScript } from '../../../db/scripts/scripts.js'
import type { Caller } from '../../../db/teams/memberships.js'
import {
  type CapsuleDefinition,
  type CapsuleTask,
  readDefinition
} from '../../../domain/capsules/capsule-definition.js'

/** @returns the id of the draft, in a team that the transaction has locked. @throws ServiceError `conflict`. */
export async function cloneCapsule(
  tx: Tx,
  caller: Caller,
  source: CapsuleRow,
  teamId: string,
  name: string | null
): Promise<string> {
  const seal = await loadSeal(tx, source.id)
  return createCapsule(
    tx,
    {
      teamId,
      ownerId: caller.userId,
      state: 'draft',
      name: name ?? source.name,
      description: source.description,
      tags: source.tags,
      definition: await ownDefinition(tx, caller, readDefinition(source.definition)),
      backends: source.backends,
      maxBudget: source.maxBudget,
      retentionYears: source.retentionYears,
      regulatoryFramework: source.regulatoryFramework,
      clonedFrom: source.id,
      derivedFrom: seal?.capsuleDigest ?? source.derivedFrom
    },
    { actor: actorText(caller), action: 'capsule.cloned', metadata: { source_state: source.state } }
  )
}

/** A script that the caller cannot read is replaced by its program's text, so the draft does not refer to it. */
export async function ownDefinition(tx: Tx, caller: Caller, { tasks }: CapsuleDefinition): Promise<CapsuleDefinition> {
  const own: CapsuleTask[] = []
  for (const task of tasks) {
    const { source } = task
    const isHidden = source.kind === 'script' && !(await loadScript(tx, caller, source.script_id))
    own.push(isHidden ? { ...task, source: { kind: 'inline', framework: source.framework, text: source.text } } : task)
  }
  return { tasks: own }
}
