import type { Schemas } from '../../api/types.ts'
import { useBeneficiaryNames } from '../../api/use-beneficiaries.ts'
import { listWords } from '../../lib/list-words.ts'
import { moneyText } from '../../lib/money.ts'
import { typeLabel } from '../../lib/rails.ts'
import { useSession } from '../../shell/session.tsx'
import { Facts, Notice } from '../../ui/layout.tsx'

const newPayeeWords = {
  allow: 'Paid without asking',
  require_approval: 'You are asked once about each',
  deny: 'Refused',
} as const

const duplicateWords = {
  warn: 'Paid with a warning',
  confirm: 'Refused until it says that a second one is meant',
  require_approval: 'Needs approval',
  deny: 'Refused',
} as const

/** The limits in words; their use is shown above. */
export const LimitFacts = ({ grant }: { grant: Pick<Schemas['Grant'], 'spending_controls'> }) => {
  const { currency } = useSession()
  const nameOf = useBeneficiaryNames(grant.spending_controls.beneficiary_ids ?? [])
  const { spending_controls: controls } = grant
  if (Object.keys(controls).every((name) => name === 'on_duplicate'))
    return (
      <Notice tone="warn" title="No limits">
        <p className="quiet">Only policies and the balance limit what it can spend.</p>
      </Notice>
    )
  return (
    <Facts
      facts={[
        ['Per-payment limit', controls.per_payment_limit_minor && moneyText(controls.per_payment_limit_minor, currency)],
        [
          'Requires approval',
          controls.approval_threshold_minor && `At or above ${moneyText(controls.approval_threshold_minor, currency)}`,
        ],
        ['Beneficiaries', controls.beneficiary_ids && listWords(controls.beneficiary_ids.map(nameOf), 'or')],
        ['New beneficiaries', newPayeeWords[controls.new_payees ?? 'require_approval']],
        ['A repeated payment', controls.on_duplicate && duplicateWords[controls.on_duplicate]],
        ['Payment types', controls.payment_types && listWords(controls.payment_types.map(typeLabel), 'or')],
      ]}
    />
  )
}
