CREATE TABLE "sealed_mails" (
	"id" uuid PRIMARY KEY NOT NULL,
	"ring_key_id" text NOT NULL,
	"wrapped_key" "bytea" NOT NULL,
	"sealed_mail" "bytea" NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"tries" integer DEFAULT 0 NOT NULL,
	"next_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"last_error" text
);
--> statement-breakpoint
CREATE INDEX "sealed_mails_next_at_idx" ON "sealed_mails" USING btree ("next_at");