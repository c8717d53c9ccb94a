CREATE TABLE "idempotency_keys" (
	"principal" text NOT NULL,
	"key" text NOT NULL,
	"method" text NOT NULL,
	"path" text NOT NULL,
	"body_sha256" text NOT NULL,
	"status" integer NOT NULL,
	"body" text NOT NULL,
	"team_id" uuid,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "idempotency_keys_principal_key_pk" PRIMARY KEY("principal","key")
);
--> statement-breakpoint
CREATE TABLE "job_mails" (
	"job_id" uuid PRIMARY KEY NOT NULL,
	"tries" integer DEFAULT 0 NOT NULL,
	"next_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"last_error" text
);
--> statement-breakpoint
CREATE TABLE "sweeps" (
	"name" text PRIMARY KEY NOT NULL,
	"period_seconds" integer NOT NULL,
	"ran_at" timestamp (3) with time zone NOT NULL,
	"succeeded_at" timestamp (3) with time zone,
	"error" text,
	"handled" integer DEFAULT 0 NOT NULL,
	"findings" jsonb DEFAULT '[]'::jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "provider_tasks" (
	"job_id" uuid NOT NULL,
	"task" text DEFAULT '' NOT NULL,
	"attempt" integer NOT NULL,
	"provider" text NOT NULL,
	"token" text NOT NULL,
	"generation" integer NOT NULL,
	"state" text NOT NULL,
	"tries" integer DEFAULT 0 NOT NULL,
	"taken_at" timestamp (3) with time zone,
	"last_sent_at" timestamp (3) with time zone,
	"sent_with" text,
	"provider_job_id" text,
	"accepted_at" timestamp (3) with time zone,
	"provider_status" text,
	"queue_position" integer,
	"predicted_wait_seconds" integer,
	"seen_at" timestamp (3) with time zone,
	"cancel_requested_at" timestamp (3) with time zone,
	"ended_at" timestamp (3) with time zone,
	"cost_micro" bigint,
	"error_code" text,
	"error_message" text,
	"ask_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "provider_tasks_job_id_task_attempt_pk" PRIMARY KEY("job_id","task","attempt")
);
--> statement-breakpoint
CREATE TABLE "provider_workers" (
	"provider" text PRIMARY KEY NOT NULL,
	"declared_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "backends" ADD COLUMN "queue_length" integer;--> statement-breakpoint
ALTER TABLE "backends" ADD COLUMN "queue_time_seconds" integer;--> statement-breakpoint
ALTER TABLE "backends" ADD COLUMN "queue_updated_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "attempts" ADD COLUMN "backoff_ms" integer;--> statement-breakpoint
ALTER TABLE "job_events" ADD COLUMN "task" text;--> statement-breakpoint
ALTER TABLE "job_events" ADD COLUMN "attempt" integer;--> statement-breakpoint
ALTER TABLE "job_events" ADD COLUMN "attempt_state" text;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "durable" boolean;--> statement-breakpoint
UPDATE "jobs" SET "durable" = "execution_mode" = 'temporal';--> statement-breakpoint
ALTER TABLE "jobs" ALTER COLUMN "durable" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "circuit_count" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "notify" text;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "request_id" text;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "trace_parent" text;--> statement-breakpoint
ALTER TABLE "outbox" ADD COLUMN "team_id" uuid;--> statement-breakpoint
ALTER TABLE "outbox" ADD COLUMN "backend" text;--> statement-breakpoint
UPDATE "outbox" SET "team_id" = "jobs"."team_id", "backend" = "jobs"."backend" FROM "jobs" WHERE "jobs"."id" = "outbox"."job_id";--> statement-breakpoint
ALTER TABLE "outbox" ALTER COLUMN "team_id" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "outbox" ALTER COLUMN "backend" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "outbox" ADD COLUMN "held_reason" text;--> statement-breakpoint
ALTER TABLE "job_mails" ADD CONSTRAINT "job_mails_job_id_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "provider_tasks" ADD CONSTRAINT "provider_tasks_job_id_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "idempotency_keys_created_at_idx" ON "idempotency_keys" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "job_mails_next_at_idx" ON "job_mails" USING btree ("next_at");--> statement-breakpoint
CREATE UNIQUE INDEX "provider_tasks_token_key" ON "provider_tasks" USING btree ("token");--> statement-breakpoint
CREATE INDEX "provider_tasks_ask_at_idx" ON "provider_tasks" USING btree ("ask_at") WHERE ask_at is not null;--> statement-breakpoint
CREATE INDEX "jobs_under_way_idx" ON "jobs" USING btree ("team_id") WHERE status in ('running', 'cancelling');--> statement-breakpoint
CREATE INDEX "outbox_held_idx" ON "outbox" USING btree ("team_id","job_id") WHERE held_reason = 'concurrency_limit';--> statement-breakpoint
CREATE INDEX "outbox_offline_idx" ON "outbox" USING btree ("backend","job_id") WHERE held_reason = 'backend_offline';--> statement-breakpoint
CREATE INDEX "outbox_delivered_idx" ON "outbox" USING btree ("team_id") WHERE kind = 'start' and deliveries > 0;--> statement-breakpoint
CREATE INDEX "jobs_held_idx" ON "jobs" USING btree ("completed_at") WHERE actual_cost_micro is null and status in ('failed', 'cancelled');--> statement-breakpoint
CREATE INDEX "ledger_over_idx" ON "ledger" USING btree ("at") WHERE kind = 'release' and amount_micro < 0;--> statement-breakpoint
DROP INDEX "jobs_team_id_idx";--> statement-breakpoint
CREATE INDEX "jobs_team_id_idx" ON "jobs" USING btree ("team_id","id","created_at");--> statement-breakpoint
CREATE INDEX "jobs_team_status_idx" ON "jobs" USING btree ("team_id","status","id","backend");--> statement-breakpoint
CREATE INDEX "jobs_team_backend_idx" ON "jobs" USING btree ("team_id","backend","id","status");--> statement-breakpoint
CREATE INDEX "jobs_status_idx" ON "jobs" USING btree ("status","id");--> statement-breakpoint
CREATE INDEX "jobs_user_idx" ON "jobs" USING btree ("user_id","id");--> statement-breakpoint
CREATE INDEX "jobs_api_key_idx" ON "jobs" USING btree ("api_key_id") WHERE api_key_id is not null;--> statement-breakpoint
CREATE TABLE "usage_days" (
	"team_id" uuid NOT NULL,
	"day" date NOT NULL,
	"backend" text NOT NULL,
	"provider" text NOT NULL,
	"jobs" integer NOT NULL,
	"shots" bigint NOT NULL,
	"spent_micro" bigint NOT NULL,
	CONSTRAINT "usage_days_team_id_day_backend_provider_pk" PRIMARY KEY("team_id","day","backend","provider")
);
--> statement-breakpoint
CREATE TABLE "usage_entries" (
	"team_id" uuid NOT NULL,
	"day" date NOT NULL,
	"backend" text NOT NULL,
	"provider" text NOT NULL,
	"jobs" integer NOT NULL,
	"shots" bigint NOT NULL,
	"spent_micro" bigint NOT NULL
);
--> statement-breakpoint
CREATE INDEX "usage_entries_team_day_idx" ON "usage_entries" USING btree ("team_id","day");--> statement-breakpoint
-- Usage is added up as it happens, whoever writes: a job counts when it begins to run, money when it moves. Both on the
-- day to which the job's reservation belongs.
CREATE FUNCTION note_usage_of_job() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO usage_entries (team_id, day, backend, provider, jobs, shots, spent_micro)
  VALUES (NEW.team_id, (coalesce(NEW.not_before, NEW.created_at) AT TIME ZONE 'UTC')::date, NEW.backend, NEW.provider,
    1, NEW.shots, 0);
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER jobs_usage AFTER UPDATE OF started_at ON jobs FOR EACH ROW
  WHEN (OLD.started_at IS NULL AND NEW.started_at IS NOT NULL) EXECUTE FUNCTION note_usage_of_job();
--> statement-breakpoint
CREATE FUNCTION note_usage_of_money() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO usage_entries (team_id, day, backend, provider, jobs, shots, spent_micro)
  SELECT NEW.team_id, NEW.day, backend, provider, 0, 0, NEW.amount_micro FROM jobs WHERE id = NEW.job_id;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER ledger_usage AFTER INSERT ON ledger FOR EACH ROW
  WHEN (NEW.kind IN ('settle', 'adjust') AND NEW.amount_micro <> 0) EXECUTE FUNCTION note_usage_of_money();
--> statement-breakpoint
INSERT INTO usage_days (team_id, day, backend, provider, jobs, shots, spent_micro)
SELECT team_id, day, backend, provider, sum(jobs), sum(shots), sum(spent_micro) FROM (
  SELECT team_id, (coalesce(not_before, created_at) AT TIME ZONE 'UTC')::date AS day, backend, provider, 1 AS jobs,
    shots, 0 AS spent_micro FROM jobs WHERE started_at IS NOT NULL
  UNION ALL
  SELECT ledger.team_id, ledger.day, jobs.backend, jobs.provider, 0, 0, ledger.amount_micro FROM ledger
    JOIN jobs ON jobs.id = ledger.job_id WHERE ledger.kind IN ('settle', 'adjust')
) entries GROUP BY 1, 2, 3, 4;
