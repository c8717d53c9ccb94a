-- concurrently: the table holds every job, and every job writes to it.
DROP INDEX CONCURRENTLY IF EXISTS "jobs_ended_idx";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY "jobs_ended_idx" ON "jobs" USING btree ("status","id") WHERE status in ('completed', 'failed', 'cancelled', 'dispatch_failed');
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "jobs_lease_token_idx";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY "jobs_lease_token_idx" ON "jobs" USING btree ("lease_token") WHERE lease_token is not null;
