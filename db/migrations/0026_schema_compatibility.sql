CREATE TABLE "schema_compatibility" (
	"only_row" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"minimum_migrations" integer NOT NULL,
	"seed_version" integer NOT NULL,
	CONSTRAINT "schema_compatibility_one_row" CHECK ("schema_compatibility"."only_row")
);
--> statement-breakpoint
INSERT INTO "schema_compatibility" ("minimum_migrations", "seed_version") VALUES (0, 0);
