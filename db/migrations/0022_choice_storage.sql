-- The candidates of a job whose backend the service chose are metered like the other texts of a job (0013_team_storage.sql). A
-- process of the previous release writes jobs meanwhile: what is counted here and what the triggers count must not overlap.
LOCK TABLE jobs IN SHARE ROW EXCLUSIVE MODE;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION meter_jobs_added() RETURNS trigger LANGUAGE plpgsql AS $t$
BEGIN
  INSERT INTO storage_entries (team_id, kind, bytes)
  SELECT team, 'jobs', sum(size) FROM (
    SELECT x.team_id AS team, octet_length(x.source_text) + octet_length(x.params) + coalesce(octet_length(x.input), 0)
      + coalesce(octet_length(x.choice::text), 0) AS size FROM added x) sizes
  WHERE team IS NOT NULL GROUP BY team HAVING sum(size) <> 0;
  RETURN NULL;
END $t$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION meter_jobs_removed() RETURNS trigger LANGUAGE plpgsql AS $t$
BEGIN
  INSERT INTO storage_entries (team_id, kind, bytes)
  SELECT team, 'jobs', -sum(size) FROM (
    SELECT x.team_id AS team, octet_length(x.source_text) + octet_length(x.params) + coalesce(octet_length(x.input), 0)
      + coalesce(octet_length(x.choice::text), 0) AS size FROM removed x) sizes
  WHERE team IS NOT NULL GROUP BY team HAVING sum(size) <> 0;
  RETURN NULL;
END $t$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION meter_jobs_changed() RETURNS trigger LANGUAGE plpgsql AS $t$
BEGIN
  INSERT INTO storage_entries (team_id, kind, bytes)
  SELECT team, 'jobs', sum(size) FROM (VALUES
    (NEW.team_id, octet_length(NEW.source_text) + octet_length(NEW.params) + coalesce(octet_length(NEW.input), 0)
      + coalesce(octet_length(NEW.choice::text), 0)),
    (OLD.team_id, -(octet_length(OLD.source_text) + octet_length(OLD.params) + coalesce(octet_length(OLD.input), 0)
      + coalesce(octet_length(OLD.choice::text), 0)))) sizes (team, size)
  WHERE team IS NOT NULL GROUP BY team HAVING sum(size) <> 0;
  RETURN NULL;
END $t$;
--> statement-breakpoint
CREATE OR REPLACE TRIGGER meter_changed AFTER UPDATE OF source_text, params, input, choice ON jobs
  FOR EACH ROW EXECUTE FUNCTION meter_jobs_changed();
--> statement-breakpoint
DO $do$
BEGIN
  EXECUTE 'CREATE OR REPLACE VIEW stored_bytes AS ' || rtrim(pg_get_viewdef('stored_bytes'::regclass), '; ')
    || $view$ UNION ALL SELECT x.team_id, 'jobs'::text AS kind, octet_length(x.choice::text)::bigint AS bytes
       FROM jobs x WHERE x.choice IS NOT NULL AND x.team_id IS NOT NULL$view$;
END $do$;
--> statement-breakpoint
INSERT INTO storage_entries (team_id, kind, bytes)
SELECT team_id, 'jobs', sum(octet_length(choice::text)) FROM jobs
WHERE choice IS NOT NULL AND team_id IS NOT NULL GROUP BY team_id;
