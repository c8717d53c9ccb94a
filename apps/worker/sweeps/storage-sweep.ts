// Adds what teams have stored to the sums that limits are checked against, and once a day proves that the sums equal what the
// tables hold (db/proofs/storage-proof.ts). It repairs nothing: findings are logged and stored, and an administrator decides.
import type { Logger } from 'pino'
import type { Db } from '../../../db/client.js'
import { proveStorage } from '../../../db/proofs/storage-proof.js'
import { isDue } from '../../../db/service/sweeps.js'
import { sumStorage } from '../../../db/teams/team-storage.js'
import type { SweepReports } from './sweep-reports.js'
import { startLoop, startSharedLoop, type TimerLoop } from './timer-loop.js'

/** Readers add up the entries of this interval themselves: a few thousand at most. */
const SUM_MS = 60_000
const SUMS = 'storage'
const PROOF = 'storage_in_full'
/** How often a worker checks whether the proof is due. */
const LOOK_MS = 60_000
const DAY_SECONDS = 24 * 3_600
/** After a finding, the proof is repeated sooner, so that a repair becomes visible. */
const FOUND_SECONDS = 3_600

export function startStorageSweep(db: Db, reports: SweepReports, log: Logger): TimerLoop {
  async function sum() {
    const { summed, more } = await sumStorage(db)
    return { handled: summed, more }
  }
  async function prove() {
    if (!(await isDue(db, PROOF, DAY_SECONDS, FOUND_SECONDS))) return null
    const findings = await proveStorage(db)
    if (findings && findings.length > 0)
      log.error({ sweep: PROOF, findings }, 'the counters of stored bytes differ from what is stored')
    return findings && { findings }
  }
  const loops = [
    startSharedLoop({ db, reports, log }, SUMS, SUM_MS, sum),
    startLoop(PROOF, LOOK_MS, log, prove, reports.of(PROOF, DAY_SECONDS * 1_000))
  ]
  return {
    name: SUMS,
    async close() {
      await Promise.all(loops.map((loop) => loop.close()))
    }
  }
}
