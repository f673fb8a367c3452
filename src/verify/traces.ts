import { beginningOf, sqlCheck, typeIdSql } from '../db/check.ts'

/** Tables whose rows are never made without an audit row that names them. */
const audited = [
  { table: 'api_keys', where: '' },
  { table: 'grants', where: '' },
  { table: 'sessions', where: '' },
  { table: 'identities', where: '' },
  { table: 'payments', where: '' },
  { table: 'topups', where: '' },
  { table: 'spending_policies', where: '' },
  { table: 'beneficiaries', where: '' },
  { table: 'intent_mandates', where: '' },
  { table: 'invitations', where: '' },
  { table: 'adjustments', where: '' },
  { table: 'workspaces', where: "and t.kind = 'team'" },
]

const inAudit = audited.map(({ table, where }) =>
  sqlCheck(
    'I8',
    `every row of ${table} is in the audit log`,
    `select t.id::text as subject from ${table} t where t.created_at >= $1::timestamptz and not exists (select from audit_log a where a.subject_id = t.id) ${where}`,
    (facts) => [beginningOf(facts)],
  ),
)

const published = [
  { table: 'payments', prefix: 'pay', type: 'payment.created' },
  { table: 'api_keys', prefix: 'key', type: 'api_key.created' },
  { table: 'grants', prefix: 'gra', type: 'grant.created' },
  { table: 'sessions', prefix: 'ses', type: 'session.created' },
  { table: 'identities', prefix: 'idn', type: 'identity.linked' },
  { table: 'spending_policies', prefix: 'pol', type: 'policy.created' },
  { table: 'beneficiaries', prefix: 'ben', type: 'beneficiary.created' },
  { table: 'intent_mandates', prefix: 'man', type: 'mandate.created' },
  { table: 'invitations', prefix: 'inv', type: 'member.invited' },
]

const inEvents = published.map(({ table, prefix, type }) =>
  sqlCheck(
    'I8',
    `every row of ${table} was told by ${type}`,
    // The events are read once: looked for row by row, each row would read all of its type (measured: a second a row, of 600,000 events).
    `with told as materialized (
       select data->>'id' as id from events where type = '${type}' and created_at >= $1::timestamptz - interval '1 day')
     select t.id::text as subject from ${table} t
     where t.created_at > $1::timestamptz and not exists (select from told where told.id = ${typeIdSql(prefix, 't.id')})`,
    // A day's margin: what is older may have left the table already.
    ({ now, eventRetentionDays, since }) => [
      new Date(Math.max(now.getTime() - Math.max(0, eventRetentionDays - 1) * 86_400_000, since?.getTime() ?? 0)),
    ],
  ),
)

export const traceChecks = [...inAudit, ...inEvents]
