import { namesSql } from '../db/tables/columns.ts'
import { decidingRoles } from './permissions.ts'

/** Whether a wallet (its address) is linked to an account now. */
export const walletIsLinked = (account: string, address: string): string =>
  `exists (select from identities i where i.provider = 'wallet' and i.account_id = ${account} and i.subject_key = lower(${address}))`

/** Whether an account may decide the approvals of a workspace now. */
export const mayDecide = (account: string, workspace: string): string =>
  `exists (select from members m join accounts a on a.id = m.account_id
     where m.account_id = ${account} and m.workspace_id = ${workspace} and m.status = 'active' and m.role in ${namesSql(decidingRoles)}
       and a.status = 'active')`

/**
 * What a decision `d` on the approval of payment `p` has lost since it was given, as one of `voidReasons`; null while it holds. Every kind
 * of decision names here what it rests on: a signature and a mandate on their wallet, and a passkey will on its row.
 */
export const lostBy = (d: string, p: string): string =>
  `case when not ${mayDecide(`${d}.account_id`, `${p}.workspace_id`)} then 'approver'
     when ${d}.via in ('signature', 'mandate') and not ${walletIsLinked(`${d}.account_id`, `${d}.signer`)} then 'wallet'
     when ${d}.via = 'mandate' and coalesce((select x.status from intent_mandates x where x.id = ${p}.mandate_id), 'revoked') = 'revoked' then 'mandate'
   end`

/** The latest decision of each account on approval `approval`, if it was not voided: these decisions count while they hold. */
export const currentDecisions = (approval: string): string =>
  `(select latest.* from (
      select distinct on (account_id) * from approval_decisions where approval_id = ${approval} order by account_id, decided_at desc, id desc) as latest
    where not exists (select from approval_voids v where v.decision_id = latest.id))`
