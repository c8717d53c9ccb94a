-- concurrently: the table holds every job, and every job writes to it.
DROP INDEX CONCURRENTLY IF EXISTS "jobs_user_team_idx";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY "jobs_user_team_idx" ON "jobs" USING btree ("user_id","team_id","id");
