import type { Schemas } from '../../api/types.ts'
import { useBeneficiaries } from '../../api/use-beneficiaries.ts'
import { countWords, listWords } from '../../lib/list-words.ts'
import { moneyText } from '../../lib/money.ts'
import { policySentence } from '../../lib/policy-sentence.ts'
import { typeLabel } from '../../lib/rails.ts'
import { useSession } from '../../shell/session.tsx'
import { Card, Facts } from '../../ui/layout.tsx'

/** A policy for people who may read it but not change it. */
export const PolicyDetail = ({ policy }: { policy: Schemas['SpendingPolicy'] }) => {
  const { currency } = useSession()
  const { nameOf } = useBeneficiaries()
  const money = (minor: string | null) => minor && moneyText(minor, currency)
  return (
    <Card>
      <div className="stack">
        <p className="sentence">{policySentence(policy, { currency, nameOf })}</p>
        <Facts
          stacked
          facts={[
            ['Beneficiaries', policy.beneficiary_ids.length > 0 ? listWords(policy.beneficiary_ids.map(nameOf)) : 'Everyone'],
            ['Payment types', policy.payment_types.length > 0 ? listWords(policy.payment_types.map(typeLabel)) : 'Every type'],
            ['Per-payment limit', money(policy.per_payment_limit_minor)],
            ['Daily limit', money(policy.daily_limit_minor)],
            ['Monthly limit', money(policy.monthly_limit_minor)],
            ['Requires approval at or above', money(policy.approval_threshold_minor)],
            [
              'Approvals needed',
              policy.required_approval_count > 0 && countWords(policy.required_approval_count, 'person', 'people'),
            ],
            ['Requester', policy.separation_of_duties && 'Can’t approve their own payment'],
          ]}
        />
      </div>
    </Card>
  )
}
