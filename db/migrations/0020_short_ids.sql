CREATE INDEX "capsule_runs_id_end_idx" ON "capsule_runs" USING btree ("capsule_id",right(id::text, 8));--> statement-breakpoint
CREATE INDEX "capsules_id_end_idx" ON "capsules" USING btree ("team_id",right(id::text, 8));--> statement-breakpoint
CREATE INDEX "jobs_team_user_idx" ON "jobs" USING btree ("team_id","user_id","id");--> statement-breakpoint
CREATE INDEX "jobs_id_end_idx" ON "jobs" USING btree ("team_id",right(id::text, 8));