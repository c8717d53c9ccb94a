CREATE TABLE "playground_telemetry" (
	"id" uuid PRIMARY KEY NOT NULL,
	"team_id" uuid NOT NULL,
	"user_id" uuid,
	"session_id" text NOT NULL,
	"simulator" text NOT NULL,
	"source_framework" text,
	"qasm_input" text NOT NULL,
	"shots" integer NOT NULL,
	"qubit_count" integer NOT NULL,
	"gate_count" integer NOT NULL,
	"execution_time_ms" double precision NOT NULL,
	"counts" jsonb NOT NULL,
	"user_agent" text,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "playground_telemetry" ADD CONSTRAINT "playground_telemetry_team_id_teams_id_fk" FOREIGN KEY ("team_id") REFERENCES "public"."teams"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "playground_telemetry" ADD CONSTRAINT "playground_telemetry_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;