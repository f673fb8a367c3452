ALTER TABLE "mails" ALTER COLUMN "address_ciphertext" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "mails" ALTER COLUMN "address_key_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "push_notices" ADD COLUMN "account_id" uuid;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "browser_hash" "bytea";