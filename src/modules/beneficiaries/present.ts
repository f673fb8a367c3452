import { isoTime, isoTimeOrNull } from '../../lib/clock.ts'
import { formatId, type Uuid } from '../../lib/ids.ts'
import { quoted } from '../../lib/text.ts'
import { presentMakers } from '../present-maker.ts'
import type { BeneficiaryRecord, VerificationRecord } from './queries.ts'
import type { Beneficiary, CreatedBeneficiary, NameCheck } from './schema.ts'

export const beneficiaryStatus = (
  record: Pick<BeneficiaryRecord, 'archivedAt' | 'frozenAt' | 'paybillFrozenAt'>,
): Beneficiary['status'] => {
  if (record.archivedAt) return 'archived'
  return record.frozenAt || record.paybillFrozenAt ? 'frozen' : 'active'
}

/** What the rail says about whose number it is. */
export const presentVerification = (
  record: Pick<BeneficiaryRecord, 'nameCheckedAt' | 'nameSource' | 'reportedName' | 'verification'>,
): Beneficiary['verification'] => ({
  status: record.verification,
  name: record.reportedName,
  source: record.nameSource,
  checked_at: isoTimeOrNull(record.nameCheckedAt),
})

export const presentCheck = ({ status, name, source, checkedAt, paymentId }: VerificationRecord): NameCheck => ({
  status,
  name,
  source,
  checked_at: isoTime(checkedAt),
  payment_id: paymentId && formatId('payment', paymentId),
})

export const presentBeneficiary = (record: BeneficiaryRecord): Beneficiary => ({
  id: formatId('beneficiary', record.id),
  type: record.type,
  display_name: record.displayName,
  legal_name: record.legalName,
  payment_rail: record.paymentRail,
  destination_mask: record.destinationMask,
  account_reference_required: record.accountReferenceRequired,
  account_reference: record.accountReference,
  bank_code: record.bankCode,
  metadata: record.metadata,
  status: beneficiaryStatus(record),
  confirmation: record.confirmedAt ? 'confirmed' : 'proposed',
  verification: presentVerification(record),
  ...presentMakers(record),
  created_at: isoTime(record.createdAt),
  updated_at: isoTime(record.updatedAt),
})

export const presentCreated = (
  record: BeneficiaryRecord,
  atSameNumber: readonly { id: Uuid; displayName: string }[],
): CreatedBeneficiary => ({
  ...presentBeneficiary(record),
  warnings: atSameNumber.map(({ id, displayName }) => ({
    code: 'same_number',
    beneficiary_id: formatId('beneficiary', id),
    display_name: displayName,
    message: `${quoted(displayName)} is paid at the same number.`,
  })),
})
