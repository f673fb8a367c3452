CREATE TABLE "booking_points" (
	"name" text PRIMARY KEY NOT NULL,
	"through" uuid NOT NULL
);
--> statement-breakpoint
CREATE TABLE "booking_totals" (
	"account_id" uuid NOT NULL,
	"workspace_id" uuid NOT NULL,
	"beneficiary_id" uuid NOT NULL,
	"begins" timestamp (3) with time zone NOT NULL,
	"entries" bigint NOT NULL,
	"came_in_minor" bigint NOT NULL,
	"went_out_minor" bigint NOT NULL,
	"unit" text NOT NULL,
	"type" text NOT NULL,
	CONSTRAINT "booking_totals_account_id_unit_begins_workspace_id_type_beneficiary_id_pk" PRIMARY KEY("account_id","unit","begins","workspace_id","type","beneficiary_id"),
	CONSTRAINT "booking_totals_unit_check" CHECK ("booking_totals"."unit" in ('hour', 'day', 'month', 'payee_day', 'payee_month')),
	CONSTRAINT "booking_totals_type_check" CHECK ("booking_totals"."type" in ('topup', 'payment', 'payment_return', 'adjustment')),
	CONSTRAINT "booking_totals_sums_check" CHECK ("booking_totals"."entries" > 0 and "booking_totals"."came_in_minor" >= 0 and "booking_totals"."went_out_minor" >= 0)
);
