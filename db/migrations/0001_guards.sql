-- What must hold whoever writes: a status follows the table of domain/job-status.ts (a test compares the two), and the
-- ledger is only ever appended to.
CREATE FUNCTION refuse_job_status() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.status IS DISTINCT FROM OLD.status AND NOT (
    (OLD.status = 'pending' AND NEW.status IN ('running', 'cancelling', 'cancelled', 'dispatch_failed', 'failed')) OR
    (OLD.status = 'running' AND NEW.status IN ('completed', 'failed', 'cancelling')) OR
    (OLD.status = 'cancelling' AND NEW.status IN ('cancelled', 'completed', 'failed'))
  ) THEN
    RAISE EXCEPTION 'job status % may not follow %', NEW.status, OLD.status USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;
--> statement-breakpoint
CREATE TRIGGER jobs_status_guard BEFORE UPDATE OF status ON jobs FOR EACH ROW EXECUTE FUNCTION refuse_job_status();
--> statement-breakpoint
CREATE FUNCTION refuse_ledger_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the ledger is append-only' USING ERRCODE = 'check_violation';
END $$;
--> statement-breakpoint
CREATE TRIGGER ledger_append_only BEFORE UPDATE OR DELETE ON ledger FOR EACH ROW EXECUTE FUNCTION refuse_ledger_change();
--> statement-breakpoint
CREATE TRIGGER ledger_never_emptied BEFORE TRUNCATE ON ledger FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();
--> statement-breakpoint
ALTER TABLE jobs ADD CONSTRAINT jobs_status_known
  CHECK (status IN ('pending', 'running', 'completed', 'failed', 'cancelling', 'cancelled', 'dispatch_failed'));
--> statement-breakpoint
ALTER TABLE budget_counters ADD CONSTRAINT budget_counters_not_negative CHECK (spent_micro >= 0 AND reserved_micro >= 0);
--> statement-breakpoint
ALTER TABLE access_codes ADD CONSTRAINT access_codes_not_negative CHECK (remaining_uses >= 0);
