import { sqlChecks } from '../../db/check.ts'
import { referenceKeySql } from '../../lib/account-reference.ts'
import { typeIdSql } from './type-id.ts'

const published = [
  { table: 'api_keys', kind: 'api_key', type: 'api_key.created' },
  { table: 'grants', kind: 'grant', type: 'grant.created' },
  { table: 'sessions', kind: 'session', type: 'session.created' },
  { table: 'identities', kind: 'identity', type: 'identity.linked' },
  { table: 'spending_policies', kind: 'policy', type: 'policy.created' },
  { table: 'beneficiaries', kind: 'beneficiary', type: 'beneficiary.created' },
  { table: 'intent_mandates', kind: 'mandate', type: 'mandate.created' },
  { table: 'invitations', kind: 'invitation', type: 'member.invited' },
] as const

/** A margin of one day: older events may already be deleted. */
const stored = `greatest($since, $retained + interval '1 day')`

// The events are read once, and each row is named once: searched row by row, each row would read all events of its type (measured: a
// second a row, with 600,000 events), and be named for each of them.
const inEvents = published.map(({ table, kind, type }) => [
  `every row of ${table} was published by ${type}`,
  `with published as materialized (
     select data->>'id' as id from events where type = '${type}' and created_at >= ${stored} - interval '1 day' and transaction > $sealed_through),
   named as materialized (select t.id, ${typeIdSql(kind, 't.id')} as name from ${table} t where t.created_at > ${stored})
   select id::text as subject from named where not exists (select from published where published.id = named.name)`,
])

export const traceChecks = sqlChecks({
  I8: {
    ...Object.fromEntries(inEvents),
    'every row of payments was published by payment.created': `
      with published as materialized (
        select payment_id from events where type = 'payment.created' and created_at >= ${stored} - interval '1 day' and transaction > $sealed_through)
      select p.id::text as subject from payments p
      where p.created_at > ${stored} and not exists (select from published where published.payment_id = p.id)`,
    // Rows with references that are not foreign keys, because a foreign key would lock the other row with every payment.
    'everything that a payment names exists, and so does every payment that an event refers to': `
      select p.id::text as subject from payments p
      where p.created_at >= $since and (
        not exists (select from workspaces w join accounts a on a.id = w.owning_account_id where w.id = p.workspace_id and a.id = p.account_id)
        or not exists (select from beneficiaries b where b.id = p.beneficiary_id and b.workspace_id = p.workspace_id
          and b.payee_id in (p.payee_id, (select y.paybill_id from payees y where y.id = p.payee_id and y.reference_key = ${referenceKeySql('p.account_reference')})))
        or not exists (select from accounts a where a.id = p.initiator_account_id)
        or (p.grant_id is not null and not exists (select from grants g where g.id = p.grant_id)))
      union all
      select e.id::text from events e where e.payment_id is not null and e.transaction > $sealed_through and not exists (select from payments p where p.id = e.payment_id)`,
  },
})
