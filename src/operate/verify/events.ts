import { type Check, sqlChecks } from '../../db/check.ts'
import type { Db } from '../../db/client.ts'
import { balanceAccountsSql } from '../../db/tables/workspaces.ts'
import { referenceKeySql } from '../../lib/account-reference.ts'
import { parseAnyId, type Uuid } from '../../lib/ids.ts'
import { type Fields, findInPages, namesThatDiffer, typeIdSql } from './audit-log.ts'

const creationEvents = [
  { table: 'api_keys', kind: 'api_key', type: 'api_key.created' },
  { table: 'grants', kind: 'grant', type: 'grant.created' },
  { table: 'sessions', kind: 'session', type: 'session.created' },
  { table: 'identities', kind: 'identity', type: 'identity.linked' },
  { table: 'spending_policies', kind: 'policy', type: 'policy.created' },
  { table: 'beneficiaries', kind: 'beneficiary', type: 'beneficiary.created' },
  { table: 'intent_mandates', kind: 'mandate', type: 'mandate.created' },
  { table: 'invitations', kind: 'invitation', type: 'member.invited' },
] as const

/** With a margin of one day, because older events may already be deleted. */
const surelyStoredFrom = `greatest($since, $retained + interval '1 day')`

// Reads the events once and encodes each row's id once. Separate searches would read all events of a type for every row: with
// 600,000 events, each row took a second.
const creationEventChecks = creationEvents.map(({ table, kind, type }) => [
  `every row of ${table} has a ${type} event`,
  `with published as materialized (
     select data->>'id' as id from events where type = '${type}' and created_at >= ${surelyStoredFrom} - interval '1 day' and transaction > $sealed_through),
   named as materialized (select t.id, ${typeIdSql(kind, 't.id')} as name from ${table} t where t.created_at > ${surelyStoredFrom})
   select id::text as subject from named where not exists (select from published where published.id = named.name)`,
])

const eventQueries = sqlChecks({
  I8: {
    ...Object.fromEntries(creationEventChecks),
    'every row of payments has a payment.created event': `
      with published as materialized (
        select payment_id from events where type = 'payment.created' and created_at >= ${surelyStoredFrom} - interval '1 day' and transaction > $sealed_through)
      select p.id::text as subject from payments p
      where p.created_at > ${surelyStoredFrom} and not exists (select from published where published.payment_id = p.id)`,
    // Checks references that have no foreign key, which would lock the referenced row for every payment.
    'every record that a payment refers to exists, and so does every payment that an event refers to': `
      select p.id::text as subject from payments p
      where p.created_at >= $since and (
        not exists (select from workspaces w cross join lateral ${balanceAccountsSql('w')} as holder(id) where w.id = p.workspace_id and holder.id = p.account_id)
        or not exists (select from beneficiaries b where b.id = p.beneficiary_id and b.workspace_id = p.workspace_id
          and b.payee_id in (p.payee_id, (select y.paybill_id from payees y where y.id = p.payee_id and y.reference_key = ${referenceKeySql('p.account_reference')})))
        or not exists (select from accounts a where a.id = p.initiator_account_id)
        or (p.grant_id is not null and not exists (select from grants g where g.id = p.grant_id)))
      union all
      select e.id::text from events e where e.payment_id is not null and e.transaction > $sealed_through and not exists (select from payments p where p.id = e.payment_id)`,
    'every payment event has the workspace and the account of its payment': `
      select e.id::text as subject from events e join payments p on p.id = e.payment_id left join workspaces w on w.id = p.workspace_id
      where e.created_at >= $since and e.transaction > $sealed_through and (e.workspace_id is distinct from p.workspace_id
        or (w.id is not null and e.account_id in (p.account_id, w.owning_account_id, w.balance_account_id)) is not true)`,
  },
})

type Event = { id: Uuid; transaction: string; type: string; workspaceId: Uuid | null; paymentId: Uuid | null; data: Fields }
type EntryOfEvent = { transaction: string; subjectId: Uuid; workspaceId: Uuid | null; after: Fields | null }

const entriesSql = `select transaction::text, subject_id as "subjectId", workspace_id as "workspaceId", after from audit_log
  where subject_id = any($1::uuid[]) and transaction = any($2::text[]::xid8[])`

/**
 * Fields to compare. The signature of a revocation differs from the mandate's. For a planned change of time zone that was
 * cancelled, the log has a time while the workspace has none.
 */
const comparable = ({ type, data }: Event): Fields => {
  const omitted = type === 'mandate.revoked' ? ['signature', 'signer'] : data.time_zone_from === null ? ['time_zone_from'] : []
  return Object.fromEntries(Object.entries(data).filter(([name]) => !omitted.includes(name)))
}

const breachesOfEvents = async (db: Db, events: readonly Event[]): Promise<string[]> => {
  const subjectOf = ({ paymentId, data }: Event): Uuid | undefined => paymentId ?? parseAnyId(String(data.id))
  const written = await db.query<EntryOfEvent>(entriesSql, [
    events.flatMap((event) => subjectOf(event) ?? []),
    [...new Set(events.map(({ transaction }) => transaction))],
  ])
  const bySubject = Map.groupBy(written, ({ transaction, subjectId }) => `${transaction} ${subjectId}`)
  return events.flatMap((event) => {
    const entries = bySubject.get(`${event.transaction} ${subjectOf(event)}`) ?? []
    const data = comparable(event)
    const describesEvent = ({ after, workspaceId }: EntryOfEvent) => {
      const place = workspaceId && event.workspaceId && { workspace_id: workspaceId }
      return namesThatDiffer({ ...after, ...place }, data).length === 0
    }
    return entries.length === 0 || entries.some(describesEvent) ? [] : [`${event.id} (${event.type})`]
  })
}

const eventsMatchLog: Check = {
  invariant: 'I21',
  promise: 'every event matches the change in the same transaction',
  find: (db, facts) =>
    findInPages<Event>(
      db,
      facts,
      `select t.id, t.transaction::text, t.type, t.workspace_id as "workspaceId", t.payment_id as "paymentId",
         t.data::jsonb || jsonb_build_object('workspace_id', coalesce(t.workspace_id::text, t.data->>'workspace_id')) as data
       from events t where t.id > $1 and t.created_at >= $since and t.transaction > $sealed_through and t.data is not null and t.type <> 'balance.updated'`,
      (rows) => breachesOfEvents(db, rows),
    ),
}

export const eventChecks: readonly Check[] = [...eventQueries, eventsMatchLog]
