-- concurrently: the tables hold everything that was ever computed, and every job writes to them.
DROP INDEX CONCURRENTLY IF EXISTS "capsule_files_unmoved_idx";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY "capsule_files_unmoved_idx" ON "capsule_files" USING btree ("capsule_id","name") WHERE object_key is null and size_bytes >= 65536;
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "capsule_files_moving_idx";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY "capsule_files_moving_idx" ON "capsule_files" USING btree ("object_at") WHERE object_key is not null and content is not null;
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "artifacts_unmoved_idx";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY "artifacts_unmoved_idx" ON "artifacts" USING btree ("job_id","name","sha256") WHERE object_key is null and size_bytes >= 65536;
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "artifacts_moving_idx";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY "artifacts_moving_idx" ON "artifacts" USING btree ("object_at") WHERE object_key is not null and content is not null;
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "task_values_unmoved_idx";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY "task_values_unmoved_idx" ON "task_values" USING btree ("job_id","sha256") WHERE object_key is null and size_bytes >= 65536;
--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "task_values_moving_idx";
--> statement-breakpoint
CREATE INDEX CONCURRENTLY "task_values_moving_idx" ON "task_values" USING btree ("object_at") WHERE object_key is not null and content is not null;
