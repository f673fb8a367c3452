import type { Uuid } from '../lib/ids.ts'

/** An account's name or first wallet. Never an e-mail address: strangers and programs read it. `id`: SQL expression. */
export const personNameSql = (id: string): string => `(
  select coalesce(person.display_name, (
    select left(i.subject, 6) || '…' || right(i.subject, 4) from identities i
    where i.account_id = person.id and i.provider = 'wallet' order by i.id limit 1))
  from accounts person where person.id = ${id})`

export type NamedPerson = { id: Uuid; name: string | null }

/** The people whose approvals count, as `NamedPerson[]`. `approvalId`: SQL expression. */
export const approversSql = (approvalId: string): string => `coalesce((
  select json_agg(json_build_object('id', approver.account_id, 'name', ${personNameSql('approver.account_id')}) order by approver.account_id)
  from (select distinct d.account_id from approval_decisions d where d.approval_id = ${approvalId} and d.decision = 'approve'
    and not exists (select from approval_voids v where v.decision_id = d.id)) approver), '[]')`
