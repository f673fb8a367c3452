CREATE TABLE "payment_points" (
	"name" text PRIMARY KEY NOT NULL,
	"through" uuid NOT NULL
);
--> statement-breakpoint
CREATE TABLE "payment_totals" (
	"account_id" uuid NOT NULL,
	"workspace_id" uuid NOT NULL,
	"begins" timestamp (3) with time zone NOT NULL,
	"payments" bigint NOT NULL,
	"amount_minor" bigint NOT NULL,
	"unit" text NOT NULL,
	"status" text NOT NULL,
	CONSTRAINT "payment_totals_account_id_workspace_id_unit_begins_status_pk" PRIMARY KEY("account_id","workspace_id","unit","begins","status"),
	CONSTRAINT "payment_totals_unit_check" CHECK ("payment_totals"."unit" in ('hour', 'day', 'month')),
	CONSTRAINT "payment_totals_status_check" CHECK ("payment_totals"."status" in ('succeeded', 'failed', 'rejected', 'cancelled', 'expired')),
	CONSTRAINT "payment_totals_sums_check" CHECK ("payment_totals"."payments" > 0 and "payment_totals"."amount_minor" > 0)
);
