ALTER TABLE "backends" ADD COLUMN "per_second_micro" bigint;--> statement-breakpoint
ALTER TABLE "backends" ADD COLUMN "seconds_max" integer;--> statement-breakpoint
ALTER TABLE "provider_tasks" ADD COLUMN "fixed_micro" bigint;--> statement-breakpoint
ALTER TABLE "provider_tasks" ADD COLUMN "minimum_cost_micro" bigint;--> statement-breakpoint
ALTER TABLE "provider_tasks" ADD COLUMN "per_second_micro" bigint;--> statement-breakpoint
ALTER TABLE "provider_tasks" ADD COLUMN "seconds_max" integer;--> statement-breakpoint
ALTER TABLE "provider_tasks" ADD COLUMN "usage_amount" double precision;--> statement-breakpoint
ALTER TABLE "provider_tasks" ADD COLUMN "usage_unit" text;--> statement-breakpoint
ALTER TABLE "provider_tasks" ADD COLUMN "note" text;--> statement-breakpoint
ALTER TABLE "provider_tasks" ADD COLUMN "usage_ask_at" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "ledger_raised_idx" ON "ledger" USING btree ("at") WHERE kind = 'adjust' and amount_micro > 0;--> statement-breakpoint
CREATE INDEX "provider_tasks_usage_ask_at_idx" ON "provider_tasks" USING btree ("usage_ask_at") WHERE usage_ask_at is not null;--> statement-breakpoint
-- A price of the machine's time without a cap is no price: the estimate is their product.
ALTER TABLE backends ADD CONSTRAINT backends_time_price CHECK ((per_second_micro IS NULL) = (seconds_max IS NULL));
