CREATE TABLE "removed_contents" (
	"job_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"removed_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "removed_contents_job_id_kind_pk" PRIMARY KEY("job_id","kind")
);
--> statement-breakpoint
CREATE TABLE "content_retention" (
	"team_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"days" integer NOT NULL,
	"changed_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "content_retention_team_id_kind_pk" PRIMARY KEY("team_id","kind")
);
--> statement-breakpoint
CREATE TABLE "content_retention_marks" (
	"team_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"job_id" uuid NOT NULL,
	CONSTRAINT "content_retention_marks_team_id_kind_pk" PRIMARY KEY("team_id","kind")
);
--> statement-breakpoint
ALTER TABLE "removed_contents" ADD CONSTRAINT "removed_contents_job_id_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."jobs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "content_retention" ADD CONSTRAINT "content_retention_team_id_teams_id_fk" FOREIGN KEY ("team_id") REFERENCES "public"."teams"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "content_retention_marks" ADD CONSTRAINT "content_retention_marks_team_id_teams_id_fk" FOREIGN KEY ("team_id") REFERENCES "public"."teams"("id") ON DELETE cascade ON UPDATE no action;