-- replaced: jobs_ended_idx and jobs_open_idx serve the lists of all jobs of a status, and jobs_lease_token_idx the leases, in
-- this release and in the one before.
DROP INDEX "jobs_status_idx";
--> statement-breakpoint
DROP INDEX "jobs_lease_idx";
