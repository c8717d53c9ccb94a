// Submissions that stop at their last row, and continue later.
import postgres from 'postgres'
import { eventually } from '../eventually.js'

/** Any number that no other advisory lock has. */
const HOLD = 4_712

export interface HeldSubmissions {
  /** Waits until so many are held. */
  held(count: number): Promise<void>
  /** Ends those that are held, as Postgres does with a lost connection that it notices. */
  end(): Promise<void>
}

/** Holds the submissions in a database while `work` runs. */
export async function holdSubmissions(
  databaseUrl: string,
  work: (submissions: HeldSubmissions) => Promise<void>
): Promise<void> {
  const sql = postgres(databaseUrl, { max: 2, onnotice: () => {} })
  const waiting = () => sql<{ pid: number }[]>`select pid from pg_locks join pg_database on pg_database.oid = database
    where locktype = 'advisory' and objid = ${HOLD} and not granted and datname = current_database()`
  try {
    await sql`create or replace function hold_submission() returns trigger language plpgsql
      as ${sql.unsafe(`$$ begin perform pg_advisory_xact_lock_shared(${HOLD}); return new; end $$`)}`
    await sql`create or replace trigger hold_submission before insert on outbox for each row execute function hold_submission()`
    await sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(${HOLD})`
      await work({
        held: async (count) => {
          await eventually(async () => (await waiting()).length === count)
        },
        end: async () => {
          for (const { pid } of await waiting()) await sql`select pg_terminate_backend(${pid})`
        }
      })
    })
  } finally {
    await sql`drop trigger if exists hold_submission on outbox`
    await sql.end()
  }
}
