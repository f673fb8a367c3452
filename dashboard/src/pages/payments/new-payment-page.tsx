import { useQuery } from '@tanstack/react-query'
import { useSearchParams } from 'wouter'
import { paymentQuery } from '../../api/queries.ts'
import { useBeneficiaries } from '../../api/use-beneficiaries.ts'
import { editableMajor } from '../../lib/money.ts'
import { Allowed } from '../../shell/allowed.tsx'
import { LinkButton } from '../../ui/button.tsx'
import { EmptyCard, Page, SkeletonCard } from '../../ui/layout.tsx'
import { PaymentForm } from './payment-form.tsx'
import { emptyPayment } from './payment-form-state.ts'

const NoBeneficiary = () => (
  <EmptyCard
    icon="people"
    title="First, add someone to pay"
    actions={
      <LinkButton href="/beneficiaries/new" variant="primary">
        Add beneficiary
      </LinkButton>
    }
  >
    A beneficiary is a phone, a business or a bank account that you pay by name.
  </EmptyCard>
)

export const NewPaymentPage = () => (
  <Page title="New payment" back={{ href: '/payments', label: 'Payments' }}>
    <Allowed permission="payment.create" action="make payments">
      <Prepared />
    </Allowed>
  </Page>
)

/** The form starts with what the address names: a beneficiary, or a payment to repeat. */
const Prepared = () => {
  const [params] = useSearchParams()
  const again = params.get('again') ?? ''
  const before = useQuery({ ...paymentQuery(again), enabled: again !== '' })
  const beneficiaries = useBeneficiaries([params.get('beneficiary') ?? before.data?.beneficiary_id ?? ''])
  if (beneficiaries.isPending || (again !== '' && before.isPending)) return <SkeletonCard rows={4} />
  if (!beneficiaries.all.some(({ status }) => status === 'active')) return <NoBeneficiary />
  const payment = before.data
  const first = payment
    ? {
        ...emptyPayment,
        beneficiary: payment.beneficiary_id,
        amount: editableMajor(payment.amount_minor),
        reference: payment.account_reference ?? '',
        narrative: payment.narrative ?? '',
        purposeCode: payment.purpose_code ?? '',
        type: payment.payment_type === payment.payment_rail ? '' : payment.payment_type,
      }
    : { ...emptyPayment, beneficiary: params.get('beneficiary') ?? '' }
  return <PaymentForm beneficiaries={beneficiaries} first={first} />
}
