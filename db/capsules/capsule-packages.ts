// What is asked when a capsule goes out as a package, and when one comes in.
import { and, eq, sql } from 'drizzle-orm'
import type { DbOrTx } from '../client.js'
import { capsuleFiles } from '../tables/capsules.js'
import { scriptVersions } from '../tables/scripts.js'

/** Of the evidence, in bytes. */
export async function evidenceSize(db: DbOrTx, capsuleId: string): Promise<number> {
  const [row] = await db
    .select({ bytes: sql<number>`coalesce(sum(${capsuleFiles.sizeBytes}), 0)::int` })
    .from(capsuleFiles)
    .where(eq(capsuleFiles.capsuleId, capsuleId))
  return row!.bytes
}

/** A version that a script has had; `null` when there was none such. */
export async function loadScriptVersion(
  db: DbOrTx,
  scriptId: string,
  version: number
): Promise<{ content: string } | null> {
  const [row] = await db
    .select({ content: scriptVersions.content })
    .from(scriptVersions)
    .where(and(eq(scriptVersions.scriptId, scriptId), eq(scriptVersions.version, version)))
  return row ?? null
}
