-- replaced: jobs_span_end_idx finds the end of an id; the release before reads the ids of the team in jobs_team_id_idx,
-- which takes it longer, for as long as it still runs.
DROP INDEX "jobs_id_end_idx";
