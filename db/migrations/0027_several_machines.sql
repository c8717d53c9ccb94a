ALTER TABLE "jobs" ADD COLUMN "workflow_failing_since" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "code_restarts" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "job_asks" ADD COLUMN "executor" text;