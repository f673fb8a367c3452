-- no transaction
ALTER TABLE "provider_movements" VALIDATE CONSTRAINT "provider_movements_reconciliation_id_reconciliations_id_fk";