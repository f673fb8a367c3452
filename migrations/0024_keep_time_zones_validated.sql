-- no transaction
ALTER TABLE "workspaces" VALIDATE CONSTRAINT "workspaces_next_time_zone_check";