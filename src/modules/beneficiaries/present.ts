import { presenter } from '../../http/presenter.ts'
import { isoTimeOrNull } from '../../lib/clock.ts'
import { formatId, type Uuid } from '../../lib/ids.ts'
import { quoted } from '../../lib/text.ts'
import { presentCreators } from '../present-creator.ts'
import type { BeneficiaryRecord } from './queries.ts'
import { Beneficiary, type CreatedBeneficiary, NameCheck } from './schema.ts'

export const beneficiaryStatus = (
  record: Pick<BeneficiaryRecord, 'archivedAt' | 'frozenAt' | 'paybillFrozenAt'>,
): Beneficiary['status'] => {
  if (record.archivedAt) return 'archived'
  return record.frozenAt || record.paybillFrozenAt ? 'frozen' : 'active'
}

export const presentVerification = (
  record: Pick<BeneficiaryRecord, 'nameCheckedAt' | 'nameSource' | 'reportedName' | 'verification'>,
): Beneficiary['verification'] => ({
  status: record.verification,
  name: record.reportedName,
  source: record.nameSource,
  checked_at: isoTimeOrNull(record.nameCheckedAt),
})

export const presentCheck = presenter(NameCheck)

const shown = presenter(Beneficiary)

export const presentBeneficiary = (record: BeneficiaryRecord): Beneficiary =>
  shown(record, {
    status: beneficiaryStatus(record),
    confirmation: record.confirmedAt ? 'confirmed' : 'proposed',
    verification: presentVerification(record),
    ...presentCreators(record),
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
