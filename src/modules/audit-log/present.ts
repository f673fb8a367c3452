import { isoTime } from '../../lib/clock.ts'
import { formatId, isIdKind, type Uuid } from '../../lib/ids.ts'
import { formatMinor } from '../../lib/money.ts'
import type { AuditPayment, AuditRecord } from './queries.ts'
import type { AuditEntry, WorkspaceAuditEntry } from './schema.ts'

/** A credential without an id on the wire, such as a dashboard token, is named by its bare UUID. */
const nameOf = (type: string, id: Uuid): string => (isIdKind(type) ? formatId(type, id) : id)

export const presentAudit = (row: AuditRecord): AuditEntry => ({
  id: formatId('audit', row.id),
  action: row.action,
  account_id: row.accountId && formatId('account', row.accountId),
  credential:
    row.credentialKind === null
      ? null
      : { kind: row.credentialKind, id: row.credentialId && nameOf(row.credentialKind, row.credentialId) },
  grant_id: row.grantId && formatId('grant', row.grantId),
  grant_label: row.grantLabel,
  workspace_id: row.workspaceId && formatId('workspace', row.workspaceId),
  subject: row.subjectType && row.subjectId ? { type: row.subjectType, id: nameOf(row.subjectType, row.subjectId) } : null,
  before: row.before ?? null,
  after: row.after ?? null,
  ip: row.ip,
  user_agent: row.userAgent,
  request_id: row.requestId,
  created_at: isoTime(row.at),
})

export const presentPayment = (payment: AuditPayment | undefined): WorkspaceAuditEntry['payment'] =>
  payment
    ? {
        id: formatId('payment', payment.id),
        amount_minor: formatMinor(payment.amountMinor),
        currency: payment.currency,
        beneficiary: { id: formatId('beneficiary', payment.beneficiaryId), display_name: payment.displayName },
        batch: payment.batchId ? { id: formatId('payment_batch', payment.batchId), name: payment.batchName } : null,
      }
    : null
