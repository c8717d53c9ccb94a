CREATE TABLE "audit_checkpoints" (
	"team_id" uuid NOT NULL,
	"seq" bigint NOT NULL,
	"hash" text NOT NULL,
	"at" text NOT NULL,
	"key_id" text NOT NULL,
	"signature" text NOT NULL,
	"exported_at" timestamp (3) with time zone,
	CONSTRAINT "audit_checkpoints_team_id_seq_at_pk" PRIMARY KEY("team_id","seq","at")
);
--> statement-breakpoint
CREATE TABLE "audit_entries" (
	"team_id" uuid NOT NULL,
	"seq" bigint NOT NULL,
	"capsule_id" uuid,
	"action" text NOT NULL,
	"actor" text NOT NULL,
	"at" text NOT NULL,
	"previous_state" text,
	"new_state" text,
	"metadata" text NOT NULL,
	"prev_hash" text NOT NULL,
	"hash" text NOT NULL,
	CONSTRAINT "audit_entries_team_id_seq_pk" PRIMARY KEY("team_id","seq")
);
--> statement-breakpoint
CREATE TABLE "audit_heads" (
	"team_id" uuid PRIMARY KEY NOT NULL,
	"seq" bigint NOT NULL,
	"hash" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "signing_keys" (
	"key_id" text PRIMARY KEY NOT NULL,
	"public_key_pem" text NOT NULL,
	"ring_key_id" text NOT NULL,
	"wrapped_key" "bytea" NOT NULL,
	"sealed_key" "bytea" NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"retired_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "capsule_budgets" (
	"capsule_id" uuid PRIMARY KEY NOT NULL,
	"spent_micro" bigint NOT NULL,
	"reserved_micro" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "capsule_files" (
	"capsule_id" uuid NOT NULL,
	"name" text NOT NULL,
	"sha256" text NOT NULL,
	"size_bytes" integer NOT NULL,
	"media_type" text NOT NULL,
	"content" "bytea" NOT NULL,
	CONSTRAINT "capsule_files_capsule_id_name_pk" PRIMARY KEY("capsule_id","name")
);
--> statement-breakpoint
CREATE TABLE "capsule_publications" (
	"capsule_id" uuid PRIMARY KEY NOT NULL,
	"slug" text NOT NULL,
	"title" text NOT NULL,
	"description" text NOT NULL,
	"readme" text,
	"license" text,
	"category" text,
	"tags" jsonb NOT NULL,
	"published_at" timestamp (3) with time zone NOT NULL,
	"taken_down_at" timestamp (3) with time zone,
	"takedown_reason" text
);
--> statement-breakpoint
CREATE TABLE "capsule_run_tasks" (
	"run_id" uuid NOT NULL,
	"position" integer NOT NULL,
	"name" text NOT NULL,
	"job_id" uuid NOT NULL,
	CONSTRAINT "capsule_run_tasks_run_id_position_pk" PRIMARY KEY("run_id","position")
);
--> statement-breakpoint
CREATE TABLE "capsule_runs" (
	"id" uuid PRIMARY KEY NOT NULL,
	"capsule_id" uuid NOT NULL,
	"team_id" uuid NOT NULL,
	"mode" text NOT NULL,
	"trigger" text NOT NULL,
	"user_id" uuid,
	"api_key_id" uuid,
	"status" text NOT NULL,
	"reason" text,
	"definition" text NOT NULL,
	"definition_sha256" text NOT NULL,
	"scheduled_at" timestamp (3) with time zone,
	"confirms" uuid,
	"verdict" text,
	"verification" jsonb,
	"alerted_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp (3) with time zone,
	"completed_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "capsule_schedules" (
	"capsule_id" uuid PRIMARY KEY NOT NULL,
	"cron" text NOT NULL,
	"timezone" text NOT NULL,
	"paused" boolean NOT NULL,
	"alert_emails" jsonb NOT NULL,
	"alert_on" jsonb NOT NULL,
	"version" integer DEFAULT 1 NOT NULL,
	"created_by" uuid,
	"applied_version" integer,
	"refusal" text,
	"ended_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "capsule_alert_mails" (
	"run_id" uuid NOT NULL,
	"email" text NOT NULL,
	"tries" integer DEFAULT 0 NOT NULL,
	"next_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"last_error" text,
	CONSTRAINT "capsule_alert_mails_run_id_email_pk" PRIMARY KEY("run_id","email")
);
--> statement-breakpoint
CREATE TABLE "capsule_seals" (
	"capsule_id" uuid PRIMARY KEY NOT NULL,
	"manifest" text NOT NULL,
	"checksums" text NOT NULL,
	"root_digest" text NOT NULL,
	"capsule_digest" text NOT NULL,
	"exit_code" integer NOT NULL,
	"exit_message" text,
	"margin" text NOT NULL,
	"sealed_by" uuid NOT NULL,
	"sealed_at" timestamp (3) with time zone NOT NULL,
	"key_id" text NOT NULL,
	"envelope" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "capsules" (
	"id" uuid PRIMARY KEY NOT NULL,
	"team_id" uuid NOT NULL,
	"owner_id" uuid,
	"name" text NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"tags" jsonb NOT NULL,
	"state" text NOT NULL,
	"definition" text NOT NULL,
	"definition_sha256" text NOT NULL,
	"backends" jsonb NOT NULL,
	"max_budget_micro" bigint,
	"retention_years" integer,
	"regulatory_framework" text,
	"source_job_id" uuid,
	"cloned_from" uuid,
	"derived_from" text,
	"imported" jsonb,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "capsule_id" uuid;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "capsule_run_id" uuid;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "capsule_task" text;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "create_capsule" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "capsule_name" text;--> statement-breakpoint
ALTER TABLE "capsule_budgets" ADD CONSTRAINT "capsule_budgets_capsule_id_capsules_id_fk" FOREIGN KEY ("capsule_id") REFERENCES "public"."capsules"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "capsule_files" ADD CONSTRAINT "capsule_files_capsule_id_capsules_id_fk" FOREIGN KEY ("capsule_id") REFERENCES "public"."capsules"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "capsule_publications" ADD CONSTRAINT "capsule_publications_capsule_id_capsules_id_fk" FOREIGN KEY ("capsule_id") REFERENCES "public"."capsules"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "capsule_run_tasks" ADD CONSTRAINT "capsule_run_tasks_run_id_capsule_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."capsule_runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "capsule_runs" ADD CONSTRAINT "capsule_runs_capsule_id_capsules_id_fk" FOREIGN KEY ("capsule_id") REFERENCES "public"."capsules"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "capsule_runs" ADD CONSTRAINT "capsule_runs_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "capsule_runs" ADD CONSTRAINT "capsule_runs_api_key_id_api_keys_id_fk" FOREIGN KEY ("api_key_id") REFERENCES "public"."api_keys"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "capsule_runs" ADD CONSTRAINT "capsule_runs_confirms_capsule_runs_id_fk" FOREIGN KEY ("confirms") REFERENCES "public"."capsule_runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "capsule_alert_mails" ADD CONSTRAINT "capsule_alert_mails_run_id_capsule_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."capsule_runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "capsule_schedules" ADD CONSTRAINT "capsule_schedules_capsule_id_capsules_id_fk" FOREIGN KEY ("capsule_id") REFERENCES "public"."capsules"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "capsule_schedules" ADD CONSTRAINT "capsule_schedules_created_by_users_id_fk" FOREIGN KEY ("created_by") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "capsule_seals" ADD CONSTRAINT "capsule_seals_capsule_id_capsules_id_fk" FOREIGN KEY ("capsule_id") REFERENCES "public"."capsules"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "capsules" ADD CONSTRAINT "capsules_team_id_teams_id_fk" FOREIGN KEY ("team_id") REFERENCES "public"."teams"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "capsules" ADD CONSTRAINT "capsules_owner_id_users_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "capsules" ADD CONSTRAINT "capsules_cloned_from_capsules_id_fk" FOREIGN KEY ("cloned_from") REFERENCES "public"."capsules"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "audit_entries_capsule_idx" ON "audit_entries" USING btree ("capsule_id","seq");--> statement-breakpoint
CREATE INDEX "audit_checkpoints_unexported_idx" ON "audit_checkpoints" USING btree ("at") WHERE exported_at is null;--> statement-breakpoint
CREATE UNIQUE INDEX "capsule_publications_slug_key" ON "capsule_publications" USING btree ("slug");--> statement-breakpoint
CREATE INDEX "capsule_publications_published_at_idx" ON "capsule_publications" USING btree ("published_at") WHERE taken_down_at is null;--> statement-breakpoint
CREATE UNIQUE INDEX "capsule_run_tasks_job_key" ON "capsule_run_tasks" USING btree ("job_id");--> statement-breakpoint
CREATE INDEX "capsule_runs_capsule_idx" ON "capsule_runs" USING btree ("capsule_id","id");--> statement-breakpoint
CREATE INDEX "capsule_runs_open_idx" ON "capsule_runs" USING btree ("id") WHERE status in ('pending', 'running', 'judging');--> statement-breakpoint
CREATE UNIQUE INDEX "capsule_runs_scheduled_key" ON "capsule_runs" USING btree ("capsule_id","scheduled_at") WHERE scheduled_at is not null and status <> 'refused';--> statement-breakpoint
CREATE UNIQUE INDEX "capsule_runs_confirms_key" ON "capsule_runs" USING btree ("confirms") WHERE confirms is not null;--> statement-breakpoint
CREATE INDEX "capsule_runs_scheduled_team_idx" ON "capsule_runs" USING btree ("team_id","id") WHERE scheduled_at is not null;--> statement-breakpoint
CREATE INDEX "capsule_alert_mails_next_at_idx" ON "capsule_alert_mails" USING btree ("next_at");--> statement-breakpoint
CREATE INDEX "capsules_team_idx" ON "capsules" USING btree ("team_id","id","state");--> statement-breakpoint
CREATE INDEX "capsules_owner_idx" ON "capsules" USING btree ("owner_id","id");--> statement-breakpoint
CREATE INDEX "capsules_source_job_idx" ON "capsules" USING btree ("source_job_id") WHERE source_job_id is not null;--> statement-breakpoint
CREATE INDEX "jobs_capsule_idx" ON "jobs" USING btree ("capsule_id","team_id","id") WHERE capsule_id is not null;
--> statement-breakpoint
-- What must hold whoever writes: a capsule's state follows domain/capsule-state.ts, a sealed one's content never changes,
-- and the audit trail is only ever appended to. Deleting a team whose capsules are past their retention says so by the
-- setting qjs.retention_over.
ALTER TABLE capsules ADD CONSTRAINT capsules_state_known
  CHECK (state IN ('draft', 'runnable', 'sealed', 'published', 'archived'));
--> statement-breakpoint
CREATE FUNCTION guard_capsule() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF OLD.state IN ('sealed', 'published', 'archived') AND current_setting('qjs.retention_over', true) IS DISTINCT FROM 'yes' THEN
      RAISE EXCEPTION 'a sealed capsule is never deleted' USING ERRCODE = 'check_violation';
    END IF;
    RETURN OLD;
  END IF;
  IF NEW.state IS DISTINCT FROM OLD.state AND NOT (
    (OLD.state = 'draft' AND NEW.state = 'sealed') OR
    (OLD.state = 'runnable' AND NEW.state = 'sealed') OR
    (OLD.state = 'sealed' AND NEW.state IN ('published', 'archived'))
  ) THEN
    RAISE EXCEPTION 'capsule state % may not follow %', NEW.state, OLD.state USING ERRCODE = 'check_violation';
  END IF;
  IF OLD.state <> 'draft' AND (
    NEW.id, NEW.team_id, NEW.name, NEW.description, NEW.tags, NEW.definition, NEW.definition_sha256, NEW.backends,
    NEW.max_budget_micro, NEW.retention_years, NEW.regulatory_framework, NEW.source_job_id, NEW.derived_from, NEW.imported,
    NEW.created_at
  ) IS DISTINCT FROM (
    OLD.id, OLD.team_id, OLD.name, OLD.description, OLD.tags, OLD.definition, OLD.definition_sha256, OLD.backends,
    OLD.max_budget_micro, OLD.retention_years, OLD.regulatory_framework, OLD.source_job_id, OLD.derived_from, OLD.imported,
    OLD.created_at
  ) THEN
    RAISE EXCEPTION 'a % capsule is never edited', OLD.state USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
--> statement-breakpoint
CREATE TRIGGER capsules_guard BEFORE UPDATE OR DELETE ON capsules FOR EACH ROW EXECUTE FUNCTION guard_capsule();
--> statement-breakpoint
CREATE FUNCTION guard_sealed_content() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  capsule uuid;
BEGIN
  IF TG_OP = 'DELETE' THEN capsule := OLD.capsule_id; ELSE capsule := NEW.capsule_id; END IF;
  IF TG_OP = 'UPDATE' THEN
    RAISE EXCEPTION 'a file or seal of a capsule is never changed' USING ERRCODE = 'check_violation';
  END IF;
  IF EXISTS (SELECT 1 FROM capsule_seals WHERE capsule_id = capsule)
    AND current_setting('qjs.retention_over', true) IS DISTINCT FROM 'yes' THEN
    RAISE EXCEPTION 'the content of a sealed capsule never changes' USING ERRCODE = 'check_violation';
  END IF;
  IF TG_OP = 'DELETE' THEN RETURN OLD; ELSE RETURN NEW; END IF;
END $$;
--> statement-breakpoint
CREATE TRIGGER capsule_files_guard BEFORE INSERT OR UPDATE OR DELETE ON capsule_files
  FOR EACH ROW EXECUTE FUNCTION guard_sealed_content();
--> statement-breakpoint
CREATE TRIGGER capsule_seals_guard BEFORE UPDATE OR DELETE ON capsule_seals
  FOR EACH ROW EXECUTE FUNCTION guard_sealed_content();
--> statement-breakpoint
CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the audit trail is append-only' USING ERRCODE = 'check_violation';
END $$;
--> statement-breakpoint
CREATE TRIGGER audit_entries_append_only BEFORE UPDATE OR DELETE ON audit_entries
  FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
--> statement-breakpoint
CREATE TRIGGER audit_entries_never_emptied BEFORE TRUNCATE ON audit_entries
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
--> statement-breakpoint
CREATE TRIGGER audit_checkpoints_never_deleted BEFORE DELETE ON audit_checkpoints
  FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
--> statement-breakpoint
-- That it was exported is noted; nothing else of it changes.
CREATE TRIGGER audit_checkpoints_never_changed BEFORE UPDATE ON audit_checkpoints FOR EACH ROW
  WHEN ((NEW.team_id, NEW.seq, NEW.hash, NEW.at, NEW.key_id, NEW.signature)
    IS DISTINCT FROM (OLD.team_id, OLD.seq, OLD.hash, OLD.at, OLD.key_id, OLD.signature))
  EXECUTE FUNCTION refuse_audit_change();
--> statement-breakpoint
-- The end of a trail moves on by one entry at a time.
CREATE TRIGGER audit_heads_move_on BEFORE UPDATE ON audit_heads FOR EACH ROW
  WHEN (NEW.team_id <> OLD.team_id OR NEW.seq <> OLD.seq + 1) EXECUTE FUNCTION refuse_audit_change();
--> statement-breakpoint
CREATE TRIGGER audit_heads_never_deleted BEFORE DELETE ON audit_heads
  FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
--> statement-breakpoint
CREATE TRIGGER audit_checkpoints_never_emptied BEFORE TRUNCATE ON audit_checkpoints
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
--> statement-breakpoint
ALTER TABLE capsule_budgets ADD CONSTRAINT capsule_budgets_not_negative CHECK (spent_micro >= 0 AND reserved_micro >= 0);
--> statement-breakpoint
-- A run's status follows domain/capsule-state.ts, and what it was a run of never changes.
CREATE FUNCTION guard_capsule_run() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NEW.status NOT IN ('pending', 'refused') THEN
      RAISE EXCEPTION 'a run of a capsule begins as pending or refused, not as %', NEW.status USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
  END IF;
  IF NEW.status IS DISTINCT FROM OLD.status AND NOT (
    (OLD.status = 'pending' AND NEW.status IN ('running', 'failed', 'cancelled')) OR
    (OLD.status = 'running' AND NEW.status IN ('judging', 'completed', 'failed', 'cancelled')) OR
    (OLD.status = 'judging' AND NEW.status IN ('completed', 'failed'))
  ) THEN
    RAISE EXCEPTION 'run status % may not follow %', NEW.status, OLD.status USING ERRCODE = 'check_violation';
  END IF;
  IF (NEW.id, NEW.capsule_id, NEW.team_id, NEW.mode, NEW.trigger, NEW.definition, NEW.definition_sha256, NEW.scheduled_at,
      NEW.confirms, NEW.created_at) IS DISTINCT FROM
    (OLD.id, OLD.capsule_id, OLD.team_id, OLD.mode, OLD.trigger, OLD.definition, OLD.definition_sha256, OLD.scheduled_at,
      OLD.confirms, OLD.created_at) THEN
    RAISE EXCEPTION 'what a capsule has run is never changed' USING ERRCODE = 'check_violation';
  END IF;
  IF OLD.status IN ('completed', 'failed', 'cancelled', 'refused') AND
    (NEW.reason, NEW.verdict, NEW.verification, NEW.completed_at) IS DISTINCT FROM
    (OLD.reason, OLD.verdict, OLD.verification, OLD.completed_at) THEN
    RAISE EXCEPTION 'a run that is over is never changed' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
--> statement-breakpoint
CREATE TRIGGER capsule_runs_guard BEFORE INSERT OR UPDATE ON capsule_runs
  FOR EACH ROW EXECUTE FUNCTION guard_capsule_run();
