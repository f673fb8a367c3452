CREATE TABLE "write_losses" (
	"noticed_at" timestamp (3) with time zone PRIMARY KEY NOT NULL,
	"noticed_by" text NOT NULL,
	"ended_at" timestamp (3) with time zone,
	"ended_by" text
);
