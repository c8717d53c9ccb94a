CREATE TABLE "access_codes" (
	"code" text PRIMARY KEY NOT NULL,
	"remaining_uses" integer NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "members" (
	"team_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"role" text NOT NULL,
	"joined_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "members_team_id_user_id_pk" PRIMARY KEY("team_id","user_id")
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"token_hash" "bytea" NOT NULL,
	"user_agent" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"last_seen_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"revoked_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "teams" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"personal_of" uuid,
	"suspended_at" timestamp (3) with time zone,
	"suspended_reason" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "users" (
	"id" uuid PRIMARY KEY NOT NULL,
	"email" text NOT NULL,
	"username" text NOT NULL,
	"display_name" text,
	"password_hash" text NOT NULL,
	"is_platform_admin" boolean DEFAULT false NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "backends" (
	"id" uuid PRIMARY KEY NOT NULL,
	"slug" text NOT NULL,
	"name" text NOT NULL,
	"provider" text NOT NULL,
	"device_type" text NOT NULL,
	"provider_target_id" text NOT NULL,
	"region" text,
	"qubit_count" integer,
	"topology" text,
	"is_available" boolean NOT NULL,
	"is_retired" boolean NOT NULL,
	"status" text NOT NULL,
	"status_updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"task_fee_micro" bigint NOT NULL,
	"per_shot_micro" bigint NOT NULL,
	"minimum_cost_micro" bigint NOT NULL,
	"max_shots" integer,
	"max_qubits" integer,
	"engine" text,
	"description" text,
	"documentation_url" text,
	"tags" jsonb NOT NULL,
	"display_order" integer NOT NULL,
	"is_recommended" boolean NOT NULL,
	"supported_program_types" jsonb NOT NULL,
	"supports_noise_model" boolean NOT NULL,
	"supports_state_vector" boolean NOT NULL,
	"native_gates" jsonb,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "budget_counters" (
	"team_id" uuid NOT NULL,
	"period" text NOT NULL,
	"starts_on" date NOT NULL,
	"spent_micro" bigint NOT NULL,
	"reserved_micro" bigint NOT NULL,
	CONSTRAINT "budget_counters_team_id_period_starts_on_pk" PRIMARY KEY("team_id","period","starts_on")
);
--> statement-breakpoint
CREATE TABLE "ledger" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"team_id" uuid NOT NULL,
	"job_id" uuid NOT NULL,
	"task" text DEFAULT '' NOT NULL,
	"attempt" integer DEFAULT 0 NOT NULL,
	"kind" text NOT NULL,
	"amount_micro" bigint NOT NULL,
	"day" date NOT NULL,
	"at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "team_budgets" (
	"team_id" uuid PRIMARY KEY NOT NULL,
	"per_job_micro" bigint,
	"per_suite_micro" bigint,
	"daily_micro" bigint,
	"monthly_micro" bigint,
	"ceiling_per_job_micro" bigint,
	"ceiling_per_suite_micro" bigint,
	"ceiling_daily_micro" bigint,
	"ceiling_monthly_micro" bigint,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "artifacts" (
	"job_id" uuid NOT NULL,
	"name" text NOT NULL,
	"sha256" text NOT NULL,
	"size_bytes" integer NOT NULL,
	"media_type" text NOT NULL,
	"content" "bytea" NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "artifacts_job_id_name_sha256_pk" PRIMARY KEY("job_id","name","sha256")
);
--> statement-breakpoint
CREATE TABLE "attempts" (
	"job_id" uuid NOT NULL,
	"task" text DEFAULT '' NOT NULL,
	"number" integer NOT NULL,
	"generation" integer NOT NULL,
	"state" text NOT NULL,
	"started_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"ended_at" timestamp (3) with time zone,
	"error_code" text,
	"error_message" text,
	"result_sha256" text,
	CONSTRAINT "attempts_job_id_task_number_pk" PRIMARY KEY("job_id","task","number")
);
--> statement-breakpoint
CREATE TABLE "job_events" (
	"job_id" uuid NOT NULL,
	"seq" integer NOT NULL,
	"type" text NOT NULL,
	"status" text NOT NULL,
	"reason" text,
	"at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "job_events_job_id_seq_pk" PRIMARY KEY("job_id","seq")
);
--> statement-breakpoint
CREATE TABLE "jobs" (
	"id" uuid PRIMARY KEY NOT NULL,
	"team_id" uuid NOT NULL,
	"user_id" uuid,
	"name" text,
	"labels" jsonb NOT NULL,
	"status" text NOT NULL,
	"status_reason" text,
	"status_generation" integer,
	"execution_mode" text NOT NULL,
	"generation" integer DEFAULT 1 NOT NULL,
	"event_seq" integer DEFAULT 1 NOT NULL,
	"lease_token" uuid,
	"lease_expires_at" timestamp (3) with time zone,
	"backend" text NOT NULL,
	"provider" text NOT NULL,
	"framework" text NOT NULL,
	"source_kind" text NOT NULL,
	"source_format" text,
	"source_text" text NOT NULL,
	"source_sha256" text NOT NULL,
	"params" text NOT NULL,
	"shots" integer NOT NULL,
	"timeout_seconds" integer NOT NULL,
	"not_before" timestamp (3) with time zone,
	"estimated_cost_micro" bigint NOT NULL,
	"actual_cost_micro" bigint,
	"result_sha256" text,
	"error_code" text,
	"error_message" text,
	"cancel_requested_at" timestamp (3) with time zone,
	"cancel_outcome" text,
	"workflow_run_id" text,
	"checked_at" timestamp (3) with time zone,
	"missing_since" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp (3) with time zone,
	"completed_at" timestamp (3) with time zone,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "outbox" (
	"job_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"mode" text NOT NULL,
	"generation" integer NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL,
	"next_at" timestamp (3) with time zone NOT NULL,
	"deliveries" integer DEFAULT 0 NOT NULL,
	"unreachable_since" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "outbox_job_id_kind_pk" PRIMARY KEY("job_id","kind")
);
--> statement-breakpoint
ALTER TABLE "members" ADD CONSTRAINT "members_team_id_teams_id_fk" FOREIGN KEY ("team_id") REFERENCES "public"."teams"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "members" ADD CONSTRAINT "members_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "teams" ADD CONSTRAINT "teams_personal_of_users_id_fk" FOREIGN KEY ("personal_of") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "budget_counters" ADD CONSTRAINT "budget_counters_team_id_teams_id_fk" FOREIGN KEY ("team_id") REFERENCES "public"."teams"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "team_budgets" ADD CONSTRAINT "team_budgets_team_id_teams_id_fk" FOREIGN KEY ("team_id") REFERENCES "public"."teams"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "artifacts" ADD CONSTRAINT "artifacts_job_id_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "attempts" ADD CONSTRAINT "attempts_job_id_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "job_events" ADD CONSTRAINT "job_events_job_id_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "jobs" ADD CONSTRAINT "jobs_team_id_teams_id_fk" FOREIGN KEY ("team_id") REFERENCES "public"."teams"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "jobs" ADD CONSTRAINT "jobs_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "outbox" ADD CONSTRAINT "outbox_job_id_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "members_user_id_idx" ON "members" USING btree ("user_id","joined_at");--> statement-breakpoint
CREATE UNIQUE INDEX "members_one_owner_key" ON "members" USING btree ("team_id") WHERE role = 'owner';--> statement-breakpoint
CREATE UNIQUE INDEX "sessions_token_hash_key" ON "sessions" USING btree ("token_hash");--> statement-breakpoint
CREATE INDEX "sessions_user_id_idx" ON "sessions" USING btree ("user_id");--> statement-breakpoint
CREATE UNIQUE INDEX "teams_personal_of_key" ON "teams" USING btree ("personal_of");--> statement-breakpoint
CREATE UNIQUE INDEX "users_email_key" ON "users" USING btree (lower("email"));--> statement-breakpoint
CREATE UNIQUE INDEX "users_username_key" ON "users" USING btree (lower("username"));--> statement-breakpoint
CREATE UNIQUE INDEX "backends_slug_key" ON "backends" USING btree ("slug");--> statement-breakpoint
CREATE UNIQUE INDEX "ledger_once_key" ON "ledger" USING btree ("job_id","task","attempt","kind");--> statement-breakpoint
CREATE INDEX "ledger_team_day_idx" ON "ledger" USING btree ("team_id","day");--> statement-breakpoint
CREATE INDEX "jobs_team_id_idx" ON "jobs" USING btree ("team_id","id");--> statement-breakpoint
CREATE INDEX "jobs_lease_idx" ON "jobs" USING btree ("lease_expires_at") WHERE lease_token is not null;--> statement-breakpoint
CREATE INDEX "jobs_open_idx" ON "jobs" USING btree ("updated_at") WHERE status in ('pending', 'running', 'cancelling');--> statement-breakpoint
CREATE INDEX "outbox_next_at_idx" ON "outbox" USING btree ("next_at");