-- old writes: the release before writes every content to its row, and changes no file of a sealed capsule. Until
-- CONTENT_STORE is set, nothing is anywhere else; from the first content that is, `minimum_migrations` keeps older releases away
-- (db/contents/content-moves.ts).
CREATE TABLE "unnamed_objects" (
	"key" text PRIMARY KEY NOT NULL,
	"since" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"removing" boolean DEFAULT false NOT NULL
);
--> statement-breakpoint
ALTER TABLE "capsule_files" ALTER COLUMN "content" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "artifacts" ALTER COLUMN "content" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "task_values" ALTER COLUMN "content" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "capsule_files" ADD COLUMN "object_key" text;--> statement-breakpoint
ALTER TABLE "capsule_files" ADD COLUMN "object_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "artifacts" ADD COLUMN "object_key" text;--> statement-breakpoint
ALTER TABLE "artifacts" ADD COLUMN "object_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "task_values" ADD COLUMN "object_key" text;--> statement-breakpoint
ALTER TABLE "task_values" ADD COLUMN "object_at" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "unnamed_objects_since_idx" ON "unnamed_objects" USING btree ("since");
--> statement-breakpoint
ALTER TABLE artifacts ADD CONSTRAINT artifacts_content_check CHECK (content IS NOT NULL OR object_key IS NOT NULL) NOT VALID;
--> statement-breakpoint
ALTER TABLE task_values ADD CONSTRAINT task_values_content_check CHECK (content IS NOT NULL OR object_key IS NOT NULL) NOT VALID;
--> statement-breakpoint
ALTER TABLE capsule_files ADD CONSTRAINT capsule_files_content_check CHECK (content IS NOT NULL OR object_key IS NOT NULL) NOT VALID;
--> statement-breakpoint
-- Each object is named by a content or stands in unnamed_objects.
CREATE FUNCTION note_unnamed_object() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO unnamed_objects (key) VALUES (OLD.object_key);
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER artifacts_unnamed AFTER DELETE ON artifacts FOR EACH ROW
  WHEN (OLD.object_key IS NOT NULL) EXECUTE FUNCTION note_unnamed_object();
--> statement-breakpoint
CREATE TRIGGER task_values_unnamed AFTER DELETE ON task_values FOR EACH ROW
  WHEN (OLD.object_key IS NOT NULL) EXECUTE FUNCTION note_unnamed_object();
--> statement-breakpoint
CREATE TRIGGER capsule_files_unnamed AFTER DELETE ON capsule_files FOR EACH ROW
  WHEN (OLD.object_key IS NOT NULL) EXECUTE FUNCTION note_unnamed_object();
--> statement-breakpoint
-- A file of a sealed capsule moves between its row and the content store, and nothing else of it ever changes: what comes back
-- to the row must have the digest of the file.
CREATE OR REPLACE FUNCTION guard_sealed_content() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  capsule uuid;
BEGIN
  IF TG_OP = 'DELETE' THEN capsule := OLD.capsule_id; ELSE capsule := NEW.capsule_id; END IF;
  IF TG_OP = 'UPDATE' AND TG_TABLE_NAME = 'capsule_files' THEN
    IF (NEW.capsule_id, NEW.name, NEW.sha256, NEW.size_bytes, NEW.media_type)
        IS NOT DISTINCT FROM (OLD.capsule_id, OLD.name, OLD.sha256, OLD.size_bytes, OLD.media_type)
      AND (NEW.content IS NULL OR NEW.content IS NOT DISTINCT FROM OLD.content
        OR (OLD.content IS NULL AND encode(sha256(NEW.content), 'hex') = OLD.sha256)) THEN
      RETURN NEW;
    END IF;
  END IF;
  IF TG_OP = 'UPDATE' THEN
    RAISE EXCEPTION 'a file or seal of a capsule is never changed' USING ERRCODE = 'check_violation';
  END IF;
  IF EXISTS (SELECT 1 FROM capsule_seals WHERE capsule_id = capsule)
    AND current_setting('qjs.retention_over', true) IS DISTINCT FROM 'yes' THEN
    RAISE EXCEPTION 'the content of a sealed capsule never changes' USING ERRCODE = 'check_violation';
  END IF;
  IF TG_OP = 'DELETE' THEN RETURN OLD; ELSE RETURN NEW; END IF;
END $$;
