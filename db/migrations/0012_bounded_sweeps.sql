DROP INDEX "outbox_next_at_idx";--> statement-breakpoint
ALTER TABLE "sweeps" ADD COLUMN "failed" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "budget_counters_period_idx" ON "budget_counters" USING btree ("period","starts_on");--> statement-breakpoint
CREATE INDEX "budget_counters_reserved_idx" ON "budget_counters" USING btree ("period","team_id","starts_on") WHERE reserved_micro <> 0;--> statement-breakpoint
CREATE INDEX "outbox_mode_next_at_idx" ON "outbox" USING btree ("mode","next_at");--> statement-breakpoint
CREATE INDEX "api_key_days_reserved_idx" ON "api_key_days" USING btree ("key_id","day") WHERE reserved_micro <> 0;--> statement-breakpoint
-- Each job's row is updated several times within seconds or minutes. Room in its page keeps the new versions there.
ALTER TABLE jobs SET (fillfactor = 80);
--> statement-breakpoint
-- By default a table is vacuumed after a fifth of its rows have died: 2 million of 10 million jobs, which the sweeps then
-- pass in the indexes of open jobs every few seconds. Freezing and statistics keep their defaults.
ALTER TABLE jobs SET (autovacuum_vacuum_scale_factor = 0.01, autovacuum_analyze_scale_factor = 0.02);
--> statement-breakpoint
-- Their rows live for seconds, so that their size says nothing about their dead rows.
ALTER TABLE outbox SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
--> statement-breakpoint
ALTER TABLE usage_entries SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
