-- Money has the home of its rules: a payment, a list of payments and a top-up name the account that holds the balance of their workspace,
-- whichever version of the service writes them.
create function check_balance_holder() returns trigger language plpgsql as $$
begin
  if not exists (
    select from workspaces w where w.id = new.workspace_id and coalesce(w.balance_account_id, w.owning_account_id) = new.account_id
  ) then
    raise exception 'account % does not hold the balance of workspace %', new.account_id, new.workspace_id using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
--> statement-breakpoint
create trigger payments_balance_holder before insert on payments for each row execute function check_balance_holder();
--> statement-breakpoint
create trigger payments_balance_holder_change before update of account_id on payments for each row
  when (new.account_id is distinct from old.account_id) execute function check_balance_holder();
--> statement-breakpoint
create trigger payment_batches_balance_holder before insert on payment_batches for each row execute function check_balance_holder();
--> statement-breakpoint
create trigger topups_balance_holder before insert on topups for each row execute function check_balance_holder();
--> statement-breakpoint
-- A transfer moves the balance that its payment, its top-up or its adjustment is about. Checked at the commit: some are written before what they
-- refer to. A post and a void are held to their hold by ledger_transfers_hold_end.
create function check_transfer_balance() returns trigger language plpgsql as $$
declare
  holder uuid;
begin
  case new.reference_type
    when 'payment' then
      select p.account_id into holder from payments p where p.id = new.reference_id;
    when 'topup' then
      select coalesce(w.balance_account_id, w.owning_account_id) into holder
      from topups t join workspaces w on w.id = t.workspace_id where t.id = new.reference_id;
    when 'deposit' then
      select coalesce(w.balance_account_id, w.owning_account_id) into holder
      from deposits d join topups t on t.id = d.topup_id join workspaces w on w.id = t.workspace_id where d.id = new.reference_id;
    when 'adjustment' then
      select a.account_id into holder from adjustments a where a.id = new.reference_id;
    else
      return null;
  end case;
  if new.customer_account_id is distinct from holder then
    raise exception 'transfer % moves another balance than that of its %', new.id, new.reference_type using errcode = 'integrity_constraint_violation';
  end if;
  return null;
end $$;
--> statement-breakpoint
create constraint trigger ledger_transfers_balance after insert on ledger_transfers deferrable initially deferred for each row
  when (new.pending_id is null and new.customer_account_id is not null) execute function check_transfer_balance();
