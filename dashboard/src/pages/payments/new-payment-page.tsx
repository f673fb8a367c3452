import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { useLocation, useSearchParams } from 'wouter'
import { hasAccounts } from '../../../../src/lib/rail-names.ts'
import { type Beneficiaries, useBeneficiaries } from '../../api/names.ts'
import { api, mandatesQuery, paymentQuery, rowsOf, type Schemas } from '../../api/queries.ts'
import { useDraft } from '../../lib/drafts.ts'
import { railFacts, typeLabel } from '../../lib/rails.ts'
import type { Decision } from '../../lib/rule-words.ts'
import { editableMajor, feeWords, moneyText, parseMajor, shortMoney, unreadableAmount } from '../../lib/words.ts'
import { Allowed, useSession } from '../../shell/session.tsx'
import { BeneficiaryField } from '../../ui/beneficiary-field.tsx'
import { Button, LinkButton, Submit } from '../../ui/button.tsx'
import { fieldsOf, MoneyField, SelectField, TextField } from '../../ui/field.tsx'
import { Form, useChange } from '../../ui/form.tsx'
import { Amount, Card, EmptyCard, Facts, Failure, fieldError, Page, SkeletonCard } from '../../ui/page.tsx'
import { SendLater } from '../../ui/send-later.tsx'
import { WarningNotices } from '../approvals/facts.tsx'
import {
  bodyOf,
  type Draft,
  DryRun,
  draftOf,
  dueWords,
  emptyPayment,
  type PaymentFields,
  useDryRun,
  type Verdict,
  VerdictLine,
  verdictOf,
} from './dry-run.tsx'

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
  if (!beneficiaries.hasActive) return <NoBeneficiary />
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
  return <PaymentForm key={params.toString()} first={first} />
}

const useMandateOptions = () => {
  const active = rowsOf(useInfiniteQuery(mandatesQuery)).filter(({ status }) => status === 'active')
  return active.map(({ id, description }) => ({ value: id, label: description }))
}

const announced = ({ status, approval_id }: Schemas['Payment']): string => {
  if (status === 'scheduled') return approval_id === null ? 'Payment scheduled' : 'Scheduled, waiting for approval'
  return status === 'pending_approval' ? 'Waiting for approval' : 'Payment sent'
}

const useSend = (onSent: () => void) => {
  const [, navigate] = useLocation()
  const client = useQueryClient()
  return useChange((keyed, body: ReturnType<typeof bodyOf>) => api.POST('/v1/payments', keyed(body)), {
    announcement: announced,
    outdates: ['payments'],
    onDone: (payment) => {
      onSent()
      client.setQueryData(['payment', payment.id], payment)
      navigate(`/payments/${payment.id}`)
    },
  })
}

/** Two steps, form and review: money leaves from the second only. */
const PaymentForm = ({ first }: { first: PaymentFields }) => {
  const { account, currency, balance } = useSession()
  const form = useDraft('payment', account.id, () => first)
  const beneficiaries = useBeneficiaries([form.value.beneficiary])
  const [reviewing, setReviewing] = useState(false)
  const draft = draftOf(form.value)
  const run = useDryRun(draft)
  const available = balance?.available_minor ?? null
  const verdict = draft && run.decision ? verdictOf(run.decision, draft, available, currency) : null
  const send = useSend(form.clear)
  const beneficiary = beneficiaries.find(form.value.beneficiary)
  const ready = draft !== null && verdict !== null && verdict.tone !== 'bad'
  if (reviewing && draft && beneficiary && verdict && run.decision)
    return (
      <ReviewPayment
        fields={form.value}
        draft={draft}
        beneficiary={beneficiary}
        decision={run.decision}
        verdict={verdict}
        busy={send.isPending || send.isSuccess}
        error={send.error}
        onSend={() => send.mutate(bodyOf(draft, form.value))}
        onBack={() => {
          send.reset()
          setReviewing(false)
        }}
      />
    )
  return (
    <Form className="split" ready={ready} onSubmit={() => setReviewing(true)}>
      <Card
        footer={
          <>
            {verdict && <p className={`only-narrow small grow verdict-line tone-${verdict.tone}`}>{verdict.title}</p>}
            <Submit size="large" disabled={!ready}>
              {draft ? `Review ${moneyText(draft.amount_minor, currency)}` : 'Review'}
            </Submit>
          </>
        }
      >
        <Fields form={form} beneficiaries={beneficiaries} error={send.error} />
      </Card>
      <div className="split-aside">
        <DryRun draft={draft} run={run} beneficiary={beneficiary?.display_name ?? ''} />
      </div>
    </Form>
  )
}

/** A paybill's account is fixed with the beneficiary or named with each payment; a till has none. */
const takesReference = (beneficiary: Beneficiaries['all'][number] | undefined): boolean =>
  !beneficiary ||
  !hasAccounts(beneficiary.payment_rail) ||
  (beneficiary.account_reference_required && beneficiary.account_reference === null)

type FieldsProps = { form: ReturnType<typeof useDraft<PaymentFields>>; beneficiaries: Beneficiaries; error: unknown }

const Fields = ({ form: { value, set }, beneficiaries, error }: FieldsProps) => {
  const { currency, balance } = useSession()
  const mandates = useMandateOptions()
  const beneficiary = beneficiaries.find(value.beneficiary)
  const field = fieldsOf(value, set, error)
  const unreadable = value.amount !== '' && parseMajor(value.amount) === null
  return (
    <div className="stack">
      <BeneficiaryField
        beneficiaries={beneficiaries}
        none="Choose a beneficiary"
        value={value.beneficiary}
        onChange={(id) => set({ beneficiary: id, ...(!takesReference(beneficiaries.find(id)) && { reference: '' }) })}
        autoFocus={value.beneficiary === ''}
        error={fieldError(error, 'beneficiary_id')}
        hint={beneficiary && `${railFacts[beneficiary.payment_rail].label}, ${beneficiary.destination_mask}`}
      />
      <MoneyField
        label="Amount"
        large
        autoFocus={value.beneficiary !== ''}
        {...field('amount', 'amount_minor')}
        {...(unreadable && { error: unreadableAmount })}
        currency={currency}
        hint={balance && `${moneyText(balance.available_minor, currency)} available`}
      />
      <TextField
        label="Purpose"
        optional
        {...field('narrative')}
        maxLength={140}
        hint="Approvers see it, and you find the payment by it."
      />
      {takesReference(beneficiary) && (
        <TextField
          label="Account reference"
          optional={!beneficiary?.account_reference_required}
          {...field('reference', 'account_reference')}
          maxLength={20}
          hint={
            beneficiary?.account_reference_required
              ? 'Required by this beneficiary: an account or invoice number.'
              : 'An account or invoice number for the beneficiary.'
          }
        />
      )}
      <SendLater {...field('time', 'execute_at')} />
      <details>
        <summary className="quiet small">More options</summary>
        <div className="stack" style={{ marginTop: '14px' }}>
          <TextField
            label="Payment type"
            optional
            {...field('type', 'payment_type')}
            maxLength={64}
            hint="Policies can select by it, for example “rent”."
          />
          <TextField
            label="Purpose code"
            optional
            {...field('purposeCode', 'purpose_code')}
            maxLength={4}
            hint="ISO 20022: four letters, for example SALA for salaries."
          />
          {mandates.length > 0 && (
            <SelectField
              label="Mandate"
              optional
              {...field('mandate', 'mandate_id')}
              none="None"
              options={mandates}
              hint="A mandate that fits counts as one approval by its signer."
            />
          )}
        </div>
      </details>
      <Failure error={error} />
    </div>
  )
}

type Props = {
  fields: PaymentFields
  draft: Draft
  beneficiary: Schemas['Beneficiary']
  decision: Decision & { fee_minor: string }
  verdict: Verdict
  busy: boolean
  error: unknown
  onSend: () => void
  onBack: () => void
}

/** The last step before money leaves: amount, beneficiary, payment method, and what will happen. */
export const ReviewPayment = ({ fields, draft, beneficiary, decision, verdict, busy, error, onSend, onBack }: Props) => {
  const { currency, workspace } = useSession()
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  const sends = verdict.kind === 'send'
  const amount = moneyText(draft.amount_minor, currency)
  return (
    <Form className="narrow" busy={busy} onSubmit={onSend}>
      <Card
        footer={
          <>
            <Button onClick={onBack} size="large">
              Edit
            </Button>
            <Submit size="large" busy={busy}>
              {sends ? `Send ${amount}` : verdict.kind === 'later' ? `Schedule ${amount}` : 'Request approval'}
            </Submit>
          </>
        }
      >
        <div>
          <h2 ref={heading} tabIndex={-1} className="quiet">
            Pay {shortMoney(draft.amount_minor, currency)} to {beneficiary.display_name}?
          </h2>
          <Amount minor={draft.amount_minor} currency={currency} size="big" />
        </div>
        <WarningNotices
          warnings={decision.warnings}
          about={{ beneficiary: beneficiary.display_name, amount_minor: draft.amount_minor }}
          currency={currency}
        />
        <VerdictLine verdict={verdict} />
        <Facts
          stacked
          facts={{
            To: beneficiary.display_name,
            Fee: feeWords(draft.amount_minor, decision.fee_minor, currency),
            'Legal name': beneficiary.legal_name,
            Destination: (
              <span>
                {railFacts[beneficiary.payment_rail].label}, <span className="mono">{beneficiary.destination_mask}</span>
              </span>
            ),
            Sent: draft.execute_at && dueWords(draft.execute_at),
            Purpose: fields.narrative.trim(),
            'Account reference': fields.reference.trim(),
            'Purpose code': fields.purposeCode.trim().toUpperCase(),
            Type: fields.type.trim() && typeLabel(fields.type.trim()),
            From: workspace.name,
          }}
        />
        {sends && <p className="faint small">A payment that was sent can’t be recalled.</p>}
        {draft.execute_at && <p className="faint small">Until it is sent it can be cancelled.</p>}
        <Failure error={error} />
      </Card>
    </Form>
  )
}
