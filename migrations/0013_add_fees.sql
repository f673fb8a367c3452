ALTER TABLE "hour_totals" DROP CONSTRAINT "hour_totals_type_check";--> statement-breakpoint
ALTER TABLE "hour_totals" ADD CONSTRAINT "hour_totals_type_check" CHECK ("hour_totals"."type" in ('topup', 'payment', 'payment_return', 'fee', 'adjustment', 'made', 'opening')) NOT VALID;--> statement-breakpoint
ALTER TABLE "payments" ADD CONSTRAINT "payments_fee_check" CHECK ("payments"."fee_minor" > 0) NOT VALID;--> statement-breakpoint
ALTER TABLE "payments" ADD CONSTRAINT "payments_fee_hold_check" CHECK (("payments"."fee_hold_transfer_id" is not null) = ("payments"."fee_minor" is not null and "payments"."hold_transfer_id" is not null)) NOT VALID;
--> statement-breakpoint
-- A fee moves the balance of its payment (0009_guard_balances).
create or replace function check_transfer_balance() returns trigger language plpgsql as $$
declare
  holder uuid;
begin
  case new.reference_type
    when 'payment', 'fee' then
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
-- A payment ends together with its fee: a version that knows no fees, and would end the payment alone, is refused, and one that knows them ends both.
create function check_fee_end() returns trigger language plpgsql as $$
begin
  if not exists (
    select from ledger_transfers e
    where e.pending_id = new.fee_hold_transfer_id and e.kind = case new.status when 'succeeded' then 'post' else 'void' end
  ) then
    raise exception 'payment % ends without its fee', new.id using errcode = 'integrity_constraint_violation';
  end if;
  return null;
end $$;
--> statement-breakpoint
create trigger payments_fee_end after update of status on payments for each row
  when (new.fee_hold_transfer_id is not null and old.status in ('pending_approval', 'processing', 'unknown')
    and new.status not in ('pending_approval', 'processing', 'unknown'))
  execute function check_fee_end();
