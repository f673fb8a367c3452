import { statement, type Tx } from '../../../db/client.ts'
import { documentList, documents, plainList, textList } from '../../../db/lists.ts'
import type { RefusalRow } from './queries.ts'

const insert = statement(
  'payment_refusals.insert',
  `insert into payment_refusals (id, workspace_id, account_id, initiator_account_id, grant_id, beneficiary_id, amount_minor, account_reference, error,
     message, decision, request_id, created_at)
   select id, workspace, account, initiator, grant_id, beneficiary, amount, reference, error, message, decision::json, request, $13
   from rows from (unnest($1::uuid[]), unnest($2::uuid[]), unnest($3::uuid[]), unnest($4::uuid[]), unnest($5::uuid[]), unnest($6::uuid[]),
     unnest($7::bigint[]), unnest($8::text[]), unnest($9::text[]), unnest($10::text[]), ${documents(11)}, unnest($12::text[]))
     as r(id, workspace, account, initiator, grant_id, beneficiary, amount, reference, error, message, decision, request)`,
)

export const insertRefusals = (tx: Tx, rows: readonly RefusalRow[], at: Date): Promise<unknown> =>
  tx.query(insert, [
    plainList(rows.map(({ id }) => id)),
    plainList(rows.map(({ workspaceId }) => workspaceId)),
    plainList(rows.map(({ accountId }) => accountId)),
    plainList(rows.map(({ initiatorAccountId }) => initiatorAccountId)),
    plainList(rows.map(({ grantId }) => grantId)),
    plainList(rows.map(({ beneficiaryId }) => beneficiaryId)),
    plainList(rows.map(({ amountMinor }) => amountMinor)),
    textList(rows.map(({ accountReference }) => accountReference)),
    plainList(rows.map(({ error }) => error)),
    textList(rows.map(({ message }) => message)),
    documentList(rows.map(({ decision }) => (decision === null ? null : JSON.stringify(decision)))),
    textList(rows.map(({ requestId }) => requestId)),
    at,
  ])
