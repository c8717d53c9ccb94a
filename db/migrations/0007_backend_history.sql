CREATE TABLE "backend_versions" (
	"slug" text NOT NULL,
	"valid_from" timestamp (3) with time zone NOT NULL,
	"entry" jsonb NOT NULL,
	CONSTRAINT "backend_versions_slug_valid_from_pk" PRIMARY KEY("slug","valid_from")
);
--> statement-breakpoint
ALTER TABLE "capsule_seals" ADD COLUMN "warnings" jsonb DEFAULT '[]'::jsonb NOT NULL;--> statement-breakpoint
-- Since when the catalogue has said what of a backend: evidence states what held when its job ran. What comes and goes by the
-- minute is left out.
CREATE FUNCTION record_backend_version() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  passing text[] := ARRAY['status', 'status_updated_at', 'updated_at', 'queue_length', 'queue_time_seconds', 'queue_updated_at'];
BEGIN
  IF TG_OP = 'UPDATE' AND to_jsonb(NEW) - passing = to_jsonb(OLD) - passing THEN
    RETURN NULL;
  END IF;
  INSERT INTO backend_versions (slug, valid_from, entry) VALUES (NEW.slug, clock_timestamp(), to_jsonb(NEW) - passing)
    ON CONFLICT (slug, valid_from) DO UPDATE SET entry = EXCLUDED.entry;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER backends_record_version AFTER INSERT OR UPDATE ON backends FOR EACH ROW EXECUTE FUNCTION record_backend_version();
--> statement-breakpoint
-- What the catalogue says now it has said since its last change at least.
INSERT INTO backend_versions (slug, valid_from, entry)
  SELECT slug, updated_at, to_jsonb(backends)
    - ARRAY['status', 'status_updated_at', 'updated_at', 'queue_length', 'queue_time_seconds', 'queue_updated_at']
  FROM backends;
