// Analyses that callers were shown before running a script. Stored for a week (db/deletion/retention.ts).
import { eq } from 'drizzle-orm'
import type { StoredAnalysis } from '../../domain/scripts/script-analysis.js'
import type { DbOrTx } from '../client.js'
import { newId } from '../ids.js'
import { scriptAnalyses } from '../tables/scripts.js'

/** @returns the id that a submission can name. */
export async function storeAnalysis(tx: DbOrTx, analysis: StoredAnalysis & { canRun: boolean }): Promise<string> {
  const id = newId()
  await tx.insert(scriptAnalyses).values({ id, ...analysis })
  return id
}

export async function loadAnalysis(db: DbOrTx, id: string): Promise<StoredAnalysis | null> {
  const [row] = await db.select().from(scriptAnalyses).where(eq(scriptAnalyses.id, id))
  return row ?? null
}
