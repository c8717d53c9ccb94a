-- concurrently: the table holds every job, and every job writes to it.
DROP INDEX CONCURRENTLY IF EXISTS "jobs_span_end_idx";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY "jobs_span_end_idx" ON "jobs" USING btree ("team_id",left(id::text, 5),right(id::text, 8));
