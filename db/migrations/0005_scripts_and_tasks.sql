CREATE TABLE "job_asks" (
	"job_id" uuid NOT NULL,
	"task" text DEFAULT '' NOT NULL,
	"number" integer NOT NULL,
	"series" integer DEFAULT 0 NOT NULL,
	"kind" text NOT NULL,
	"digest" text NOT NULL,
	"final" boolean DEFAULT false NOT NULL,
	"body" text NOT NULL,
	"state" text NOT NULL,
	"answer" text,
	"parked_as" text,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"answered_at" timestamp (3) with time zone,
	CONSTRAINT "job_asks_job_id_task_number_pk" PRIMARY KEY("job_id","task","number")
);
--> statement-breakpoint
CREATE TABLE "job_tasks" (
	"job_id" uuid NOT NULL,
	"key" text NOT NULL,
	"ask" integer NOT NULL,
	"position" integer NOT NULL,
	"name" text NOT NULL,
	"func_name" text NOT NULL,
	"depends_on" text[] NOT NULL,
	"level" integer NOT NULL,
	"retries" integer NOT NULL,
	"timeout_seconds" double precision NOT NULL,
	"state" text NOT NULL,
	"function_sha256" text NOT NULL,
	"arguments_sha256" text NOT NULL,
	"result_sha256" text,
	"display_sha256" text,
	"display_problem" text,
	"stdout" text,
	"error_code" text,
	"error_message" text,
	"started_at" timestamp (3) with time zone,
	"completed_at" timestamp (3) with time zone,
	CONSTRAINT "job_tasks_job_id_key_pk" PRIMARY KEY("job_id","key")
);
--> statement-breakpoint
CREATE TABLE "task_values" (
	"job_id" uuid NOT NULL,
	"sha256" text NOT NULL,
	"size_bytes" integer NOT NULL,
	"content" "bytea" NOT NULL,
	CONSTRAINT "task_values_job_id_sha256_pk" PRIMARY KEY("job_id","sha256")
);
--> statement-breakpoint
CREATE TABLE "script_analyses" (
	"id" uuid PRIMARY KEY NOT NULL,
	"script_id" uuid NOT NULL,
	"team_id" uuid NOT NULL,
	"source_sha256" text NOT NULL,
	"backend" text NOT NULL,
	"shots" integer NOT NULL,
	"circuit_count" integer NOT NULL,
	"can_run" boolean NOT NULL,
	"checks" jsonb NOT NULL,
	"cost_micro" bigint NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "script_versions" (
	"script_id" uuid NOT NULL,
	"version" integer NOT NULL,
	"content" text NOT NULL,
	"source_sha256" text NOT NULL,
	"framework" text NOT NULL,
	"requirements" text,
	"metadata" jsonb NOT NULL,
	"created_by" uuid,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "script_versions_script_id_version_pk" PRIMARY KEY("script_id","version")
);
--> statement-breakpoint
CREATE TABLE "scripts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"team_id" uuid,
	"user_id" uuid,
	"slug" text NOT NULL,
	"name" text NOT NULL,
	"description" text NOT NULL,
	"script_type" text NOT NULL,
	"category" text NOT NULL,
	"framework" text NOT NULL,
	"content" text NOT NULL,
	"requirements" text,
	"source_sha256" text NOT NULL,
	"metadata" jsonb NOT NULL,
	"version" integer DEFAULT 1 NOT NULL,
	"is_public" boolean DEFAULT false NOT NULL,
	"is_hardcoded" boolean DEFAULT false NOT NULL,
	"is_active" boolean DEFAULT true NOT NULL,
	"published_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "script_id" uuid;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "script_version" integer;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "programming_model" text;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "entrypoint" text;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "input" text;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "max_cost_micro" bigint;--> statement-breakpoint
ALTER TABLE "job_asks" ADD CONSTRAINT "job_asks_job_id_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "job_tasks" ADD CONSTRAINT "job_tasks_job_id_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "task_values" ADD CONSTRAINT "task_values_job_id_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "script_analyses" ADD CONSTRAINT "script_analyses_script_id_scripts_id_fk" FOREIGN KEY ("script_id") REFERENCES "public"."scripts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "script_analyses" ADD CONSTRAINT "script_analyses_team_id_teams_id_fk" FOREIGN KEY ("team_id") REFERENCES "public"."teams"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "script_versions" ADD CONSTRAINT "script_versions_script_id_scripts_id_fk" FOREIGN KEY ("script_id") REFERENCES "public"."scripts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "script_versions" ADD CONSTRAINT "script_versions_created_by_users_id_fk" FOREIGN KEY ("created_by") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "scripts" ADD CONSTRAINT "scripts_team_id_teams_id_fk" FOREIGN KEY ("team_id") REFERENCES "public"."teams"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "scripts" ADD CONSTRAINT "scripts_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "script_analyses_script_idx" ON "script_analyses" USING btree ("script_id");--> statement-breakpoint
CREATE INDEX "script_analyses_created_at_idx" ON "script_analyses" USING btree ("created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "scripts_slug_key" ON "scripts" USING btree ("team_id","slug") WHERE is_active and team_id is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "scripts_template_slug_key" ON "scripts" USING btree ("slug") WHERE is_active and team_id is null;--> statement-breakpoint
CREATE INDEX "scripts_team_idx" ON "scripts" USING btree ("team_id","id") WHERE is_active;--> statement-breakpoint
CREATE INDEX "scripts_public_idx" ON "scripts" USING btree ("id") WHERE is_active and is_public;--> statement-breakpoint
CREATE INDEX "scripts_user_idx" ON "scripts" USING btree ("user_id");--> statement-breakpoint
ALTER TABLE "jobs" ADD CONSTRAINT "jobs_script_id_scripts_id_fk" FOREIGN KEY ("script_id") REFERENCES "public"."scripts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "jobs_script_idx" ON "jobs" USING btree ("script_id","team_id","id") WHERE script_id is not null;--> statement-breakpoint
ALTER TABLE "provider_tasks" ADD COLUMN "estimate_micro" bigint;
