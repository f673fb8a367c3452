import { isoTime, isoTimeOrNull } from '../../lib/clock.ts'
import { formatId } from '../../lib/ids.ts'
import { formatMinor } from '../../lib/money.ts'
import type { TopupRecord } from './queries.ts'
import type { Topup } from './schema.ts'

export const presentTopup = (topup: TopupRecord): Topup => ({
  id: formatId('topup', topup.id),
  status: topup.status,
  amount_minor: topup.amountMinor === null ? null : formatMinor(topup.amountMinor),
  received_minor: topup.receivedMinor === null ? null : formatMinor(topup.receivedMinor),
  currency: topup.currency,
  method: topup.method,
  phone_number_mask: topup.phoneMask,
  instructions: topup.instructions,
  expires_at: isoTime(topup.expiresAt),
  idempotency_key: topup.idempotencyKey,
  metadata: topup.metadata,
  provider_receipt: topup.providerReceipt,
  failure_code: topup.failureCode,
  failure_message: topup.failureMessage,
  provider_code: topup.providerCode,
  created_at: isoTime(topup.createdAt),
  updated_at: isoTime(topup.updatedAt),
  completed_at: isoTimeOrNull(topup.completedAt),
})
