-- replaced: jobs_user_team_idx finds the jobs of a user, and those of a team that one user submitted, in this release and in
-- the one before.
DROP INDEX "jobs_team_user_idx";
--> statement-breakpoint
DROP INDEX "jobs_user_idx";
