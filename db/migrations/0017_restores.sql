CREATE TABLE "restores" (
	"id" uuid PRIMARY KEY NOT NULL,
	"backup_id" uuid NOT NULL,
	"taken_at" timestamp (3) with time zone NOT NULL,
	"restored_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL
);
