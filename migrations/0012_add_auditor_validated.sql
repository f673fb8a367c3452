-- no transaction
ALTER TABLE "members" VALIDATE CONSTRAINT "members_role_check";