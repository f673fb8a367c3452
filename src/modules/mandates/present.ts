import { isoTime, isoTimeOrNull } from '../../lib/clock.ts'
import { formatId } from '../../lib/ids.ts'
import { formatMinor, minor } from '../../lib/money.ts'
import { type MandateRecord, mandateStatus } from './queries.ts'
import type { Mandate } from './schema.ts'

const view = (mandate: MandateRecord, status: Mandate['status']): Mandate => ({
  id: formatId('mandate', mandate.id),
  status,
  account_id: formatId('account', mandate.accountId),
  workspace_id: formatId('workspace', mandate.workspaceId),
  grant_id: mandate.grantId && formatId('grant', mandate.grantId),
  description: mandate.description,
  max_total_minor: formatMinor(mandate.maxTotalMinor),
  max_per_payment_minor: minor(mandate.maxPerPaymentMinor),
  max_payments: mandate.maxPayments,
  beneficiary_ids: mandate.beneficiaryIds.map((id) => formatId('beneficiary', id)),
  payment_types: mandate.paymentTypes,
  valid_from: isoTime(mandate.validFrom),
  expires_at: isoTime(mandate.expiresAt),
  spent_minor: formatMinor(mandate.spentMinor),
  payments_made: mandate.paymentsMade,
  message: mandate.message,
  signature: mandate.signature,
  signer: mandate.signer,
  created_at: isoTime(mandate.createdAt),
  revoked_at: isoTimeOrNull(mandate.revokedAt),
})

export const presentMandate = (mandate: MandateRecord, at: Date): Mandate => view(mandate, mandateStatus(mandate, at))
