ALTER TABLE "jobs" ADD COLUMN "failing_message" text;--> statement-breakpoint
ALTER TABLE "sealed_mails" ADD COLUMN "priority" integer DEFAULT 0 NOT NULL;