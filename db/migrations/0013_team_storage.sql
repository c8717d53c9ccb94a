CREATE TABLE "storage_entries" (
	"team_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"bytes" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "team_storage" (
	"team_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"bytes" bigint NOT NULL,
	CONSTRAINT "team_storage_team_id_kind_pk" PRIMARY KEY("team_id","kind")
);
--> statement-breakpoint
CREATE TABLE "team_storage_limits" (
	"team_id" uuid PRIMARY KEY NOT NULL,
	"limit_bytes" bigint NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "team_storage_limits" ADD CONSTRAINT "team_storage_limits_team_id_teams_id_fk" FOREIGN KEY ("team_id") REFERENCES "public"."teams"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "storage_entries_team_idx" ON "storage_entries" USING btree ("team_id");--> statement-breakpoint
-- Bytes are metered where they are written, whoever writes: each row below is a table, the kind that its bytes count under, its
-- team and its size. `x` is a row. A change of one of the columns in `changing` counts the difference.
-- Rows of a child are removed with their parent, when its team can no longer be found: the parent's own trigger counts them.
CREATE VIEW metered_tables AS SELECT * FROM (VALUES
  ('jobs', 'jobs', 'x.team_id', NULL, NULL,
    'octet_length(x.source_text) + octet_length(x.params) + coalesce(octet_length(x.input), 0)', 'source_text, params, input'),
  ('job_asks', 'jobs', '(SELECT team_id FROM jobs WHERE id = x.job_id)', 'jobs', 'job_id',
    'octet_length(x.body) + coalesce(octet_length(x.answer), 0)', 'body, answer'),
  ('job_tasks', 'jobs', '(SELECT team_id FROM jobs WHERE id = x.job_id)', 'jobs', 'job_id',
    'coalesce(octet_length(x.stdout), 0)', 'stdout'),
  ('artifacts', 'results', '(SELECT team_id FROM jobs WHERE id = x.job_id)', 'jobs', 'job_id', 'x.size_bytes', NULL),
  ('task_values', 'results', '(SELECT team_id FROM jobs WHERE id = x.job_id)', 'jobs', 'job_id', 'x.size_bytes', NULL),
  ('capsules', 'capsules', 'x.team_id', NULL, NULL,
    'octet_length(x.definition) + octet_length(x.description) + coalesce(octet_length(x.imported::text), 0)',
    'definition, description, imported'),
  ('capsule_files', 'capsules', '(SELECT team_id FROM capsules WHERE id = x.capsule_id)', 'capsules', 'capsule_id', 'x.size_bytes', NULL),
  ('capsule_seals', 'capsules', '(SELECT team_id FROM capsules WHERE id = x.capsule_id)', 'capsules', 'capsule_id',
    'octet_length(x.manifest) + octet_length(x.checksums) + octet_length(x.envelope)', NULL),
  ('capsule_publications', 'capsules', '(SELECT team_id FROM capsules WHERE id = x.capsule_id)', 'capsules', 'capsule_id',
    'octet_length(x.description) + coalesce(octet_length(x.readme), 0)', NULL),
  ('capsule_runs', 'capsules', 'x.team_id', NULL, NULL,
    'octet_length(x.definition) + coalesce(octet_length(x.verification::text), 0)', 'verification'),
  ('scripts', 'scripts', 'x.team_id', NULL, NULL,
    'octet_length(x.content) + coalesce(octet_length(x.requirements), 0) + octet_length(x.metadata::text)',
    'content, requirements, metadata'),
  ('script_versions', 'scripts', '(SELECT team_id FROM scripts WHERE id = x.script_id)', 'scripts', 'script_id',
    'octet_length(x.content) + coalesce(octet_length(x.requirements), 0) + octet_length(x.metadata::text)', NULL),
  ('idempotency_keys', 'idempotency', 'x.team_id', NULL, NULL, 'octet_length(x.body)', 'body, team_id'),
  ('playground_telemetry', 'telemetry', 'x.team_id', NULL, NULL,
    'octet_length(x.session_id) + octet_length(x.qasm_input) + octet_length(x.counts::text) + coalesce(octet_length(x.user_agent), 0)', NULL),
  ('audit_entries', 'audit', 'x.team_id', NULL, NULL, 'octet_length(x.metadata)', NULL)
) AS metered (source, kind, team, parent, parent_id, size, changing);
--> statement-breakpoint
DO $do$
DECLARE
  m record;
  actual text := '';
BEGIN
  FOR m IN SELECT * FROM metered_tables LOOP
    -- Statement by statement, since one statement can add hundreds of rows.
    EXECUTE format($f$
      CREATE FUNCTION meter_%1$s_added() RETURNS trigger LANGUAGE plpgsql AS $t$
      BEGIN
        INSERT INTO storage_entries (team_id, kind, bytes)
        SELECT team, %2$L, sum(size) FROM (SELECT %3$s AS team, %4$s AS size FROM added x) sizes
        WHERE team IS NOT NULL GROUP BY team HAVING sum(size) <> 0;
        RETURN NULL;
      END $t$;
      CREATE FUNCTION meter_%1$s_removed() RETURNS trigger LANGUAGE plpgsql AS $t$
      BEGIN
        INSERT INTO storage_entries (team_id, kind, bytes)
        SELECT team, %2$L, -sum(size) FROM (SELECT %3$s AS team, %4$s AS size FROM removed x) sizes
        WHERE team IS NOT NULL GROUP BY team HAVING sum(size) <> 0;
        RETURN NULL;
      END $t$;
      CREATE TRIGGER meter_added AFTER INSERT ON %1$I REFERENCING NEW TABLE AS added
        FOR EACH STATEMENT EXECUTE FUNCTION meter_%1$s_added();
      CREATE TRIGGER meter_removed AFTER DELETE ON %1$I REFERENCING OLD TABLE AS removed
        FOR EACH STATEMENT EXECUTE FUNCTION meter_%1$s_removed();
    $f$, m.source, m.kind, m.team, m.size);
    IF m.changing IS NOT NULL THEN
      EXECUTE format($f$
        CREATE FUNCTION meter_%1$s_changed() RETURNS trigger LANGUAGE plpgsql AS $t$
        BEGIN
          INSERT INTO storage_entries (team_id, kind, bytes)
          SELECT team, %2$L, sum(size) FROM (VALUES (%3$s, %4$s), (%5$s, -(%6$s))) sizes (team, size)
          WHERE team IS NOT NULL GROUP BY team HAVING sum(size) <> 0;
          RETURN NULL;
        END $t$;
        CREATE TRIGGER meter_changed AFTER UPDATE OF %7$s ON %1$I FOR EACH ROW EXECUTE FUNCTION meter_%1$s_changed();
      $f$, m.source, m.kind, replace(m.team, 'x.', 'NEW.'), replace(m.size, 'x.', 'NEW.'),
        replace(m.team, 'x.', 'OLD.'), replace(m.size, 'x.', 'OLD.'), m.changing);
    END IF;
    IF m.parent IS NOT NULL THEN
      EXECUTE format($f$
        CREATE FUNCTION meter_%1$s_removed_with_parent() RETURNS trigger LANGUAGE plpgsql AS $t$
        BEGIN
          INSERT INTO storage_entries (team_id, kind, bytes)
          SELECT OLD.team_id, %2$L, -sum(%3$s) FROM %1$I x
          WHERE x.%4$I = OLD.id AND OLD.team_id IS NOT NULL HAVING sum(%3$s) <> 0;
          RETURN OLD;
        END $t$;
        CREATE TRIGGER meter_%1$s_removed BEFORE DELETE ON %5$I
          FOR EACH ROW EXECUTE FUNCTION meter_%1$s_removed_with_parent();
      $f$, m.source, m.kind, m.size, m.parent_id, m.parent);
    END IF;
    actual := actual || CASE WHEN actual = '' THEN '' ELSE ' UNION ALL ' END
      || format('SELECT %s AS team_id, %L::text AS kind, (%s)::bigint AS bytes FROM %I x', m.team, m.kind, m.size, m.source);
  END LOOP;
  -- What is stored, row by row: the proof compares its sums with the counters (db/proofs/storage-proof.ts).
  EXECUTE 'CREATE VIEW stored_bytes AS SELECT * FROM (' || actual || ') AS stored WHERE team_id IS NOT NULL';
END $do$;
--> statement-breakpoint
DROP VIEW metered_tables;
--> statement-breakpoint
INSERT INTO team_storage (team_id, kind, bytes) SELECT team_id, kind, sum(bytes) FROM stored_bytes GROUP BY 1, 2 HAVING sum(bytes) <> 0;
--> statement-breakpoint
-- Read in slices (db/stored-content.ts), which Postgres can only cut out of a value that is not compressed. The meter counts
-- bytes before compression, so the disk holds what the counters say. Rows from before stay compressed and are read as well.
ALTER TABLE artifacts ALTER COLUMN content SET STORAGE EXTERNAL;
--> statement-breakpoint
ALTER TABLE task_values ALTER COLUMN content SET STORAGE EXTERNAL;
--> statement-breakpoint
ALTER TABLE capsule_files ALTER COLUMN content SET STORAGE EXTERNAL;
