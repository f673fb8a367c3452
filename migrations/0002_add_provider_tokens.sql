CREATE TABLE "provider_tokens" (
	"provider" text PRIMARY KEY NOT NULL,
	"token_ciphertext" "bytea",
	"token_key_id" text,
	"expires_at" timestamp (3) with time zone,
	"begun" integer NOT NULL,
	"begun_at" timestamp (3) with time zone NOT NULL,
	"ended" integer NOT NULL,
	CONSTRAINT "provider_tokens_token_check" CHECK (num_nulls("provider_tokens"."token_ciphertext", "provider_tokens"."token_key_id", "provider_tokens"."expires_at") in (0, 3)),
	CONSTRAINT "provider_tokens_fetch_check" CHECK ("provider_tokens"."ended" <= "provider_tokens"."begun")
);
