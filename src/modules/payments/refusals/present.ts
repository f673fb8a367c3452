import { isoTime } from '../../../lib/clock.ts'
import { formatId } from '../../../lib/ids.ts'
import { formatMinor } from '../../../lib/money.ts'
import type { RefusalRecord } from './queries.ts'
import type { RefusedPayment } from './schema.ts'

export const presentRefusal = ({ refusal, payee, label }: RefusalRecord, currency: string): RefusedPayment => ({
  id: formatId('payment_refusal', refusal.id),
  workspace_id: formatId('workspace', refusal.workspaceId),
  initiated_by: {
    account_id: formatId('account', refusal.initiatorAccountId),
    grant_id: refusal.grantId && formatId('grant', refusal.grantId),
    label,
  },
  beneficiary:
    refusal.beneficiaryId && payee
      ? { id: formatId('beneficiary', refusal.beneficiaryId), display_name: payee.name, destination_mask: payee.mask }
      : null,
  amount_minor: formatMinor(refusal.amountMinor),
  currency,
  account_reference: refusal.accountReference,
  error: refusal.error,
  message: refusal.message,
  // Stored as it was presented.
  decision: refusal.decision as RefusedPayment['decision'],
  request_id: refusal.requestId,
  created_at: isoTime(refusal.createdAt),
})
