-- What a record was when it was made stays with it, whichever version of the service, or person, writes. A trigger calls its function only where one of its
-- columns gets another value, so what the service writes pays nothing.
create function refuse_row_change() returns trigger language plpgsql as $$
begin
  raise exception 'a row of % keeps %', tg_table_name, tg_argv[0] using errcode = 'restrict_violation';
end $$;
--> statement-breakpoint
create trigger approvals_identity before update of workspace_id, payment_id, batch_id, initiating_grant_id, required_approvals, separation_of_duties, approval_proof, policy_versions, created_at on approvals for each row
  when ((new.workspace_id, new.payment_id, new.batch_id, new.initiating_grant_id, new.required_approvals, new.separation_of_duties, new.approval_proof, new.policy_versions, new.created_at)
    is distinct from (old.workspace_id, old.payment_id, old.batch_id, old.initiating_grant_id, old.required_approvals, old.separation_of_duties, old.approval_proof, old.policy_versions, old.created_at))
  execute function refuse_row_change('its request');
--> statement-breakpoint
create trigger payments_identity before update of workspace_id, amount_minor, currency, beneficiary_id, rail, initiator_account_id, grant_id, idempotency_key, request_hash, batch_id, batch_index, batch_leaf, created_at on payments for each row
  when ((new.workspace_id, new.amount_minor, new.currency, new.beneficiary_id, new.rail, new.initiator_account_id, new.grant_id, new.idempotency_key, new.request_hash, new.batch_id, new.batch_index, new.batch_leaf, new.created_at)
    is distinct from (old.workspace_id, old.amount_minor, old.currency, old.beneficiary_id, old.rail, old.initiator_account_id, old.grant_id, old.idempotency_key, old.request_hash, old.batch_id, old.batch_index, old.batch_leaf, old.created_at))
  execute function refuse_row_change('its request');
--> statement-breakpoint
create trigger payment_batches_identity before update of workspace_id, items_count, total_minor, currency, merkle_root, initiator_account_id, grant_id, idempotency_key, request_hash, created_at on payment_batches for each row
  when ((new.workspace_id, new.items_count, new.total_minor, new.currency, new.merkle_root, new.initiator_account_id, new.grant_id, new.idempotency_key, new.request_hash, new.created_at)
    is distinct from (old.workspace_id, old.items_count, old.total_minor, old.currency, old.merkle_root, old.initiator_account_id, old.grant_id, old.idempotency_key, old.request_hash, old.created_at))
  execute function refuse_row_change('its items and its request');
--> statement-breakpoint
create trigger topups_identity before update of workspace_id, amount_minor, currency, idempotency_key, request_hash, created_at on topups for each row
  when ((new.workspace_id, new.amount_minor, new.currency, new.idempotency_key, new.request_hash, new.created_at)
    is distinct from (old.workspace_id, old.amount_minor, old.currency, old.idempotency_key, old.request_hash, old.created_at))
  execute function refuse_row_change('its request');
--> statement-breakpoint
create trigger rail_attempts_identity before update of subject_id, kind, rail, amount_minor, order_id, reference, generation, send, created_at on rail_attempts for each row
  when ((new.subject_id, new.kind, new.rail, new.amount_minor, new.order_id, new.reference, new.generation, new.send, new.created_at)
    is distinct from (old.subject_id, old.kind, old.rail, old.amount_minor, old.order_id, old.reference, old.generation, old.send, old.created_at))
  execute function refuse_row_change('its order');
--> statement-breakpoint
create trigger callback_deliveries_identity before update of attempt_id, kind, authentic, source_ip, received_at on callback_deliveries for each row
  when ((new.attempt_id, new.kind, new.authentic, new.source_ip, new.received_at)
    is distinct from (old.attempt_id, old.kind, old.authentic, old.source_ip, old.received_at))
  execute function refuse_row_change('its arrival');
--> statement-breakpoint
create trigger suspense_items_identity before update of rail, direction, reason, fingerprint, attempt_id, delivery_id, subject_kind, subject_id, created_at on suspense_items for each row
  when ((new.rail, new.direction, new.reason, new.fingerprint, new.attempt_id, new.delivery_id, new.subject_kind, new.subject_id, new.created_at)
    is distinct from (old.rail, old.direction, old.reason, old.fingerprint, old.attempt_id, old.delivery_id, old.subject_kind, old.subject_id, old.created_at))
  execute function refuse_row_change('what was found');
--> statement-breakpoint
create trigger provider_alerts_identity before update of fingerprint, rail, subject_kind, subject_id, word, receipt, amount_minor, delivery_id, created_at on provider_alerts for each row
  when ((new.fingerprint, new.rail, new.subject_kind, new.subject_id, new.word, new.receipt, new.amount_minor, new.delivery_id, new.created_at)
    is distinct from (old.fingerprint, old.rail, old.subject_kind, old.subject_id, old.word, old.receipt, old.amount_minor, old.delivery_id, old.created_at))
  execute function refuse_row_change('what was found');
--> statement-breakpoint
create trigger reconciliation_differences_identity before update of reconciliation_id, kind, receipt, subject_kind, subject_id, booked_minor, stated_minor, created_at on reconciliation_differences for each row
  when ((new.reconciliation_id, new.kind, new.receipt, new.subject_kind, new.subject_id, new.booked_minor, new.stated_minor, new.created_at)
    is distinct from (old.reconciliation_id, old.kind, old.receipt, old.subject_kind, old.subject_id, old.booked_minor, old.stated_minor, old.created_at))
  execute function refuse_row_change('what was found');
--> statement-breakpoint
create trigger provider_movements_identity before update of provider, account, kind, receipt, amount_minor, moved_at, named_by, created_at on provider_movements for each row
  when ((new.provider, new.account, new.kind, new.receipt, new.amount_minor, new.moved_at, new.named_by, new.created_at)
    is distinct from (old.provider, old.account, old.kind, old.receipt, old.amount_minor, old.moved_at, old.named_by, old.created_at))
  execute function refuse_row_change('what a person named');
--> statement-breakpoint
create trigger payment_batches_approval before update of approval_id on payment_batches for each row
  when (old.approval_id is not null and new.approval_id is distinct from old.approval_id) execute function refuse_row_change('its approval');
--> statement-breakpoint
create trigger suspense_items_sum before update of provider_receipt, amount_minor on suspense_items for each row
  when (old.provider_receipt is not null and new.provider_receipt is distinct from old.provider_receipt or old.amount_minor is not null and new.amount_minor is distinct from old.amount_minor) execute function refuse_row_change('its receipt and its amount');
--> statement-breakpoint
create trigger rail_attempts_names before update of provider_request, provider_conversation on rail_attempts for each row
  when (old.provider_request is not null and new.provider_request is distinct from old.provider_request or old.provider_conversation is not null and new.provider_conversation is distinct from old.provider_conversation) execute function refuse_row_change('the names that the provider gave it');
--> statement-breakpoint
create trigger rail_pause_periods_end before update of ended_at on rail_pause_periods for each row
  when (old.ended_at is not null and new.ended_at is distinct from old.ended_at) execute function refuse_row_change('its end');
--> statement-breakpoint
-- An administrator may have one that could not be booked processed again.
create trigger callback_deliveries_verdict before update of verdict on callback_deliveries for each row
  when (old.verdict <> 'unbookable' and new.verdict is distinct from old.verdict) execute function refuse_row_change('its verdict');
--> statement-breakpoint
-- Only a person ends a dispute, and what is resolved is disputed at most.
create trigger rail_attempts_end before update of state on rail_attempts for each row
  when (old.state in ('disputed', 'resolved') and new.state not in ('disputed', 'resolved')) execute function refuse_row_change('its end');
--> statement-breakpoint
-- Arrivals that were refused leave after a week.
create trigger callback_deliveries_kept before delete on callback_deliveries for each row when (old.authentic) execute function refuse_row_change('its place');
--> statement-breakpoint
create trigger approvals_never_leave before delete or truncate on approvals for each statement execute function refuse_change();
--> statement-breakpoint
create trigger payments_never_leave before delete or truncate on payments for each statement execute function refuse_change();
--> statement-breakpoint
create trigger payment_batches_never_leave before delete or truncate on payment_batches for each statement execute function refuse_change();
--> statement-breakpoint
create trigger topups_never_leave before delete or truncate on topups for each statement execute function refuse_change();
--> statement-breakpoint
create trigger rail_attempts_never_leave before delete or truncate on rail_attempts for each statement execute function refuse_change();
--> statement-breakpoint
create trigger suspense_items_never_leave before delete or truncate on suspense_items for each statement execute function refuse_change();
--> statement-breakpoint
create trigger provider_alerts_never_leave before delete or truncate on provider_alerts for each statement execute function refuse_change();
--> statement-breakpoint
create trigger reconciliation_differences_never_leave before delete or truncate on reconciliation_differences for each statement execute function refuse_change();
--> statement-breakpoint
create trigger provider_movements_never_leave before delete or truncate on provider_movements for each statement execute function refuse_change();
--> statement-breakpoint
create trigger receipt_claims_never_leave before delete or truncate on receipt_claims for each statement execute function refuse_change();
--> statement-breakpoint
create trigger reconciliations_append_only before update or delete or truncate on reconciliations for each statement execute function refuse_change();
