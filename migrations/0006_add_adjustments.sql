CREATE TABLE "adjustments" (
	"id" uuid PRIMARY KEY NOT NULL,
	"status" text NOT NULL,
	"account_id" uuid NOT NULL,
	"amount_minor" bigint NOT NULL,
	"currency" text NOT NULL,
	"reason" text NOT NULL,
	"requested_by" text NOT NULL,
	"decided_by" text,
	"transfer_id" uuid,
	"created_at" timestamp (3) with time zone NOT NULL,
	"decided_at" timestamp (3) with time zone,
	CONSTRAINT "adjustments_status_check" CHECK ("adjustments"."status" in ('pending', 'posted', 'rejected')),
	CONSTRAINT "adjustments_amount_check" CHECK ("adjustments"."amount_minor" <> 0),
	CONSTRAINT "adjustments_posted_check" CHECK (("adjustments"."status" = 'posted') = ("adjustments"."transfer_id" is not null))
);
--> statement-breakpoint
ALTER TABLE "adjustments" ADD CONSTRAINT "adjustments_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "adjustments_account" ON "adjustments" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "adjustments_pending" ON "adjustments" USING btree ("id") WHERE "adjustments"."status" = 'pending';