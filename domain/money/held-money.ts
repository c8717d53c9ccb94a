// What administrators see of held reservations and of jobs that exceeded theirs: one shape for the API and for `qjob
// admin`.
import { type Sweep, sweepView } from '../operations/sweep.js'
import { type MicroUsd, usdFromMicro } from './money.js'

/** The statuses with which a job can end before its cost is known. */
export const heldJobStatuses = ['failed', 'cancelled'] as const

/** A job that ended before its cost was known. */
export interface HeldJob {
  jobId: string
  teamId: string
  teamName: string
  backend: string
  provider: string
  providerJobId: string | null
  status: (typeof heldJobStatuses)[number]
  reason: string | null
  amount: MicroUsd
  /** When the job ended. */
  since: Date
  /** When the provider is queried next; `null` when it no longer is. */
  asksAt: Date | null
}

/** A job that cost more than its reservation. */
export interface OverReservation {
  jobId: string
  teamId: string
  teamName: string
  backend: string
  reserved: MicroUsd
  settled: MicroUsd
  at: Date
}

export interface MoneyState {
  /** `rows` are the oldest ones; `jobs` and `amount` count all. */
  held: { rows: HeldJob[]; jobs: number; amount: MicroUsd }
  over: OverReservation[]
  proofs: Sweep[]
}

export const moneyView = ({ held, over, proofs }: MoneyState) => ({
  held: held.rows.map((job) => ({
    job_id: job.jobId,
    team_id: job.teamId,
    team_name: job.teamName,
    backend: job.backend,
    provider: job.provider,
    provider_job_id: job.providerJobId,
    status: job.status,
    status_reason: job.reason,
    held_usd: usdFromMicro(job.amount),
    since: job.since.toISOString(),
    asks_provider_at: job.asksAt?.toISOString() ?? null
  })),
  held_jobs: held.jobs,
  held_usd: usdFromMicro(held.amount),
  over_reservation: over.map((job) => ({
    job_id: job.jobId,
    team_id: job.teamId,
    team_name: job.teamName,
    backend: job.backend,
    reserved_usd: usdFromMicro(job.reserved),
    settled_usd: usdFromMicro(job.settled),
    settled_at: job.at.toISOString()
  })),
  proofs: Object.fromEntries(proofs.map((proof) => [proof.name, sweepView(proof)]))
})

export const SETTLEMENT_NOTE_MAX = 500
