ALTER TABLE "provider_tasks" ADD COLUMN "place" jsonb;--> statement-breakpoint
ALTER TABLE "provider_tasks" ADD COLUMN "emulated" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "provider_tasks" ADD COLUMN "wait_message" text;--> statement-breakpoint
ALTER TABLE "provider_tasks" ADD COLUMN "trying_since" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL;--> statement-breakpoint
ALTER TABLE "provider_workers" ADD COLUMN "emulated" boolean DEFAULT false NOT NULL;