DROP INDEX "outbox_delivered_idx";--> statement-breakpoint
ALTER TABLE "teams" ADD COLUMN "running_jobs_max" integer;--> statement-breakpoint
ALTER TABLE "teams" ADD COLUMN "slots_max" integer;--> statement-breakpoint
CREATE INDEX "teams_slots_max_idx" ON "teams" USING btree ("slots_max") WHERE slots_max is not null;--> statement-breakpoint
CREATE INDEX "capsule_runs_judging_idx" ON "capsule_runs" USING btree ("team_id","id") WHERE status = 'judging';--> statement-breakpoint
CREATE INDEX "outbox_begins_idx" ON "outbox" USING btree ("team_id","mode","job_id") WHERE kind = 'start' and deliveries > 0;