// One kind of attack of the table.
import type { Hostile } from './hostile-client.js'

export interface Attack {
  /** The name on the command line. */
  name: string
  /** One line for the report. */
  what: string
  /** Part of the short form. */
  short?: true
  /** The tier of the attacker's keys; default: simulate. */
  tier?: 'qpu'
  /** What the attack needs before it begins. Not part of the measurement. */
  prepare?: (hostile: Hostile) => Promise<void>
  /** Resolves soon after the abort. The caller then closes its connections and cancels its jobs. */
  attack: (hostile: Hostile, until: AbortSignal) => Promise<void>
}
