CREATE TABLE "job_points" (
	"job_id" uuid NOT NULL,
	"index" integer NOT NULL,
	"outcome" text NOT NULL,
	"failed" boolean NOT NULL,
	"size_bytes" integer NOT NULL,
	CONSTRAINT "job_points_job_id_index_pk" PRIMARY KEY("job_id","index")
);
--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "points_total" integer;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "points_done" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "points_failed" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "points_shots" bigint;--> statement-breakpoint
ALTER TABLE "jobs" ADD COLUMN "points_ms" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "job_points" ADD CONSTRAINT "job_points_job_id_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
-- Metered like the output of a job (0019_job_output.sql). A row is never changed.
CREATE FUNCTION meter_job_points_added() RETURNS trigger LANGUAGE plpgsql AS $t$
BEGIN
  INSERT INTO storage_entries (team_id, kind, bytes)
  SELECT team, 'jobs', sum(size) FROM (
    SELECT (SELECT team_id FROM jobs WHERE id = x.job_id) AS team, x.size_bytes AS size FROM added x) sizes
  WHERE team IS NOT NULL GROUP BY team HAVING sum(size) <> 0;
  RETURN NULL;
END $t$;
--> statement-breakpoint
CREATE FUNCTION meter_job_points_removed() RETURNS trigger LANGUAGE plpgsql AS $t$
BEGIN
  INSERT INTO storage_entries (team_id, kind, bytes)
  SELECT team, 'jobs', -sum(size) FROM (
    SELECT (SELECT team_id FROM jobs WHERE id = x.job_id) AS team, x.size_bytes AS size FROM removed x) sizes
  WHERE team IS NOT NULL GROUP BY team HAVING sum(size) <> 0;
  RETURN NULL;
END $t$;
--> statement-breakpoint
CREATE FUNCTION meter_job_points_removed_with_parent() RETURNS trigger LANGUAGE plpgsql AS $t$
BEGIN
  INSERT INTO storage_entries (team_id, kind, bytes)
  SELECT OLD.team_id, 'jobs', -sum(x.size_bytes) FROM job_points x
  WHERE x.job_id = OLD.id AND OLD.team_id IS NOT NULL HAVING sum(x.size_bytes) <> 0;
  RETURN OLD;
END $t$;
--> statement-breakpoint
CREATE TRIGGER meter_added AFTER INSERT ON job_points REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION meter_job_points_added();
--> statement-breakpoint
CREATE TRIGGER meter_removed AFTER DELETE ON job_points REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION meter_job_points_removed();
--> statement-breakpoint
CREATE TRIGGER meter_job_points_removed BEFORE DELETE ON jobs
  FOR EACH ROW EXECUTE FUNCTION meter_job_points_removed_with_parent();
--> statement-breakpoint
DO $do$
BEGIN
  EXECUTE 'CREATE OR REPLACE VIEW stored_bytes AS ' || rtrim(pg_get_viewdef('stored_bytes'::regclass), '; ')
    || $view$ UNION ALL SELECT j.team_id, 'jobs'::text AS kind, x.size_bytes::bigint AS bytes
       FROM job_points x JOIN jobs j ON j.id = x.job_id WHERE j.team_id IS NOT NULL$view$;
END $do$;

--> statement-breakpoint
-- The shots of a sweep are those of all its points.
CREATE OR REPLACE FUNCTION note_usage_of_job() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO usage_entries (team_id, day, backend, provider, jobs, shots, spent_micro)
  VALUES (NEW.team_id, (coalesce(NEW.not_before, NEW.created_at) AT TIME ZONE 'UTC')::date, NEW.backend, NEW.provider,
    1, coalesce(NEW.points_shots, NEW.shots), 0);
  RETURN NULL;
END $$;
