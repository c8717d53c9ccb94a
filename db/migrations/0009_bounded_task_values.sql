ALTER TABLE "job_tasks" ADD COLUMN "executions_begun" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "values_bytes" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "executions_begun" integer DEFAULT 0 NOT NULL;