import type { PolicyWireField } from '../../../../src/policy/fields.ts'
import type { Schemas } from '../../api/types.ts'
import { useBeneficiaryNames } from '../../api/use-beneficiaries.ts'
import { answerWords } from '../../lib/answer-words.ts'
import { countWords, listWords } from '../../lib/list-words.ts'
import { moneyText } from '../../lib/money.ts'
import { policySentence } from '../../lib/policy-sentence.ts'
import { typeLabel } from '../../lib/rails.ts'
import { useSession } from '../../shell/session.tsx'
import { Card, Facts } from '../../ui/layout.tsx'

type Policy = Schemas['SpendingPolicy']
type Fact = readonly [label: string, value: string | false | null]

/** Every field, in the order of the page. */
const factsOf = (policy: Policy, currency: string, nameOf: (id: string) => string): Readonly<Record<PolicyWireField, Fact>> => {
  const money = (minor: string | null) => minor && moneyText(minor, currency)
  const { on_duplicate: answer, duplicate_window_seconds: window } = policy
  return {
    beneficiary_ids: [
      'Beneficiaries',
      policy.beneficiary_ids.length > 0 ? listWords(policy.beneficiary_ids.map(nameOf)) : 'Everyone',
    ],
    payment_types: [
      'Payment types',
      policy.payment_types.length > 0 ? listWords(policy.payment_types.map(typeLabel)) : 'Every type',
    ],
    per_payment_limit_minor: ['Per-payment limit', money(policy.per_payment_limit_minor)],
    daily_limit_minor: ['Daily limit', money(policy.daily_limit_minor)],
    monthly_limit_minor: ['Monthly limit', money(policy.monthly_limit_minor)],
    approval_threshold_minor: ['Requires approval at or above', money(policy.approval_threshold_minor)],
    required_approval_count: [
      'Approvals needed',
      policy.required_approval_count > 0 && countWords(policy.required_approval_count, 'person', 'people'),
    ],
    separation_of_duties: ['Requester', policy.separation_of_duties && 'Can’t approve their own payment'],
    approval_proof: ['Approvals', policy.approval_proof === 'signature' && 'Only by passkey or wallet'],
    on_duplicate: ['A repeated payment', (answer || window !== null) && answerWords[answer ?? 'warn']],
    payee_verification: ['A name that is not confirmed', policy.payee_verification && answerWords[policy.payee_verification]],
    new_payees: ['A beneficiary that no person has confirmed', policy.new_payees && answerWords[policy.new_payees]],
    duplicate_window_seconds: ['Counts as repeated within', window !== null && countWords(window, 'second')],
  }
}

/** A policy for people who may read it but not change it. */
export const PolicyDetail = ({ policy }: { policy: Policy }) => {
  const { currency } = useSession()
  const nameOf = useBeneficiaryNames(policy.beneficiary_ids)
  return (
    <Card>
      <div className="stack">
        <p className="sentence">{policySentence(policy, policy, { currency, nameOf })}</p>
        <Facts stacked facts={Object.fromEntries(Object.values(factsOf(policy, currency, nameOf)))} />
      </div>
    </Card>
  )
}
