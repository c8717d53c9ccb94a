CREATE TABLE "job_output" (
	"job_id" uuid NOT NULL,
	"seq" integer NOT NULL,
	"text" text NOT NULL,
	"text_offset" integer NOT NULL,
	"truncated_bytes" integer,
	CONSTRAINT "job_output_job_id_seq_pk" PRIMARY KEY("job_id","seq")
);
--> statement-breakpoint
ALTER TABLE "attempts" ADD COLUMN "output_bytes" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "attempts" ADD COLUMN "output_dropped" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "output_bytes" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "output_events" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "job_output" ADD CONSTRAINT "job_output_job_id_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
-- Metered like the other texts of a job (0013_team_storage.sql). A row is never changed.
CREATE FUNCTION meter_job_output_added() RETURNS trigger LANGUAGE plpgsql AS $t$
BEGIN
  INSERT INTO storage_entries (team_id, kind, bytes)
  SELECT team, 'jobs', sum(size) FROM (
    SELECT (SELECT team_id FROM jobs WHERE id = x.job_id) AS team, octet_length(x.text) AS size FROM added x) sizes
  WHERE team IS NOT NULL GROUP BY team HAVING sum(size) <> 0;
  RETURN NULL;
END $t$;
--> statement-breakpoint
CREATE FUNCTION meter_job_output_removed() RETURNS trigger LANGUAGE plpgsql AS $t$
BEGIN
  INSERT INTO storage_entries (team_id, kind, bytes)
  SELECT team, 'jobs', -sum(size) FROM (
    SELECT (SELECT team_id FROM jobs WHERE id = x.job_id) AS team, octet_length(x.text) AS size FROM removed x) sizes
  WHERE team IS NOT NULL GROUP BY team HAVING sum(size) <> 0;
  RETURN NULL;
END $t$;
--> statement-breakpoint
CREATE FUNCTION meter_job_output_removed_with_parent() RETURNS trigger LANGUAGE plpgsql AS $t$
BEGIN
  INSERT INTO storage_entries (team_id, kind, bytes)
  SELECT OLD.team_id, 'jobs', -sum(octet_length(x.text)) FROM job_output x
  WHERE x.job_id = OLD.id AND OLD.team_id IS NOT NULL HAVING sum(octet_length(x.text)) <> 0;
  RETURN OLD;
END $t$;
--> statement-breakpoint
CREATE TRIGGER meter_added AFTER INSERT ON job_output REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION meter_job_output_added();
--> statement-breakpoint
CREATE TRIGGER meter_removed AFTER DELETE ON job_output REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION meter_job_output_removed();
--> statement-breakpoint
CREATE TRIGGER meter_job_output_removed BEFORE DELETE ON jobs
  FOR EACH ROW EXECUTE FUNCTION meter_job_output_removed_with_parent();
--> statement-breakpoint
DO $do$
BEGIN
  EXECUTE 'CREATE OR REPLACE VIEW stored_bytes AS ' || rtrim(pg_get_viewdef('stored_bytes'::regclass), '; ')
    || $view$ UNION ALL SELECT j.team_id, 'jobs'::text AS kind, octet_length(x.text)::bigint AS bytes
       FROM job_output x JOIN jobs j ON j.id = x.job_id WHERE j.team_id IS NOT NULL$view$;
END $do$;
