import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { useLocation, useSearchParams } from 'wouter'
import { hasAccounts } from '../../../../src/lib/rail-names.ts'
import { type Beneficiaries, useBeneficiaries } from '../../api/names.ts'
import { activeMandatesQuery, api, paymentQuery, rowsOf, type Schemas } from '../../api/queries.ts'
import { useEvery } from '../../api/use-every.ts'
import { useDraft } from '../../lib/drafts.ts'
import { t } from '../../lib/language.ts'
import { railFacts, typeLabel } from '../../lib/rails.ts'
import type { Decision } from '../../lib/rule-words.ts'
import { editableMajor, feeWords, moneyText, shortMoney } from '../../lib/words.ts'
import { Allowed } from '../../shell/allowed.tsx'
import { LoadState } from '../../shell/load-state.tsx'
import { useSession } from '../../shell/session.tsx'
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
import { tPay } from './texts.ts'

const NoBeneficiary = () => (
  <EmptyCard
    icon="people"
    title={tPay('first_add')}
    actions={
      <LinkButton href="/beneficiaries/new" variant="primary">
        {tPay('first_add.link')}
      </LinkButton>
    }
  >
    {tPay('first_add.note')}
  </EmptyCard>
)

export const NewPaymentPage = () => (
  <Page title={t('new_payment')} back={{ href: '/payments', label: t('payments_label') }}>
    <Allowed permission="payment.create" action={tPay('make')}>
      <PrefilledForm />
    </Allowed>
  </Page>
)

/** Prefills the form from the URL: with a beneficiary, or with a payment to repeat. */
const PrefilledForm = () => {
  const [params] = useSearchParams()
  const again = params.get('again') ?? ''
  const before = useQuery({ ...paymentQuery(again), enabled: again !== '' })
  const beneficiaries = useBeneficiaries([params.get('beneficiary') ?? before.data?.beneficiary_id ?? ''])
  if (again !== '' && !before.data) return <LoadState query={before} apiPath={`/v1/payments/${again}`} rows={4} />
  if (beneficiaries.isPending) return <SkeletonCard rows={4} />
  if (beneficiaries.error) return <Failure error={beneficiaries.error} onRetry={beneficiaries.retry} />
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

/** Mandates that approve this person's own payments: those of other signers and of agents do not. */
const useMandateOptions = () => {
  const { account } = useSession()
  return rowsOf(useEvery(activeMandatesQuery))
    .filter(({ account_id: signer, grant_id: agent }) => signer === account.id && agent === null)
    .map(({ id, description }) => ({ value: id, label: description }))
}

const announced = ({ status, approval_id }: Schemas['Payment']): string => {
  if (status === 'scheduled') return approval_id === null ? tPay('done.scheduled') : tPay('done.scheduled_waits')
  return status === 'pending_approval' ? t('line.waiting') : tPay('done.sent')
}

const useSend = (onSent: () => void) => {
  const [, navigate] = useLocation()
  const client = useQueryClient()
  return useChange((keyed, body: ReturnType<typeof bodyOf>) => api.POST('/v1/payments', keyed(body)), {
    announcement: announced,
    invalidates: ['payments'],
    onDone: (payment) => {
      onSent()
      client.setQueryData(['payment', payment.id], payment)
      navigate(`/payments/${payment.id}`)
    },
  })
}

/** Two steps, form and review. Only the second sends money. */
const PaymentForm = ({ first }: { first: PaymentFields }) => {
  const { account, currency, balance } = useSession()
  const form = useDraft('payment', account.id, () => first)
  const beneficiaries = useBeneficiaries([form.value.beneficiary])
  const [reviewing, setReviewing] = useState(false)
  const draft = draftOf(form.value)
  const run = useDryRun(draft)
  const available = balance?.available_minor ?? null
  // The time may pass during the review. Once the form is complete again, the review needs another click.
  const isComplete = draft !== null
  useEffect(() => {
    if (!isComplete) setReviewing(false)
  }, [isComplete])
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
              {draft ? tPay('review_amount', { amount: moneyText(draft.amount_minor, currency) }) : t('review')}
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

/** Whether the form asks for a reference. A paybill's account is fixed or named with each payment; a till has none. */
const takesReference = (beneficiary: Beneficiaries['offered'][number] | undefined): boolean =>
  !beneficiary ||
  !hasAccounts(beneficiary.payment_rail) ||
  (beneficiary.account_reference_required && beneficiary.account_reference === null)

type FieldsProps = { form: ReturnType<typeof useDraft<PaymentFields>>; beneficiaries: Beneficiaries; error: unknown }

const Fields = ({ form: { value, set }, beneficiaries, error }: FieldsProps) => {
  const { currency, balance } = useSession()
  const mandates = useMandateOptions()
  const beneficiary = beneficiaries.find(value.beneficiary)
  const field = fieldsOf(value, set, error)
  return (
    <div className="stack">
      <BeneficiaryField
        beneficiaries={beneficiaries}
        emptyLabel={tPay('choose')}
        value={value.beneficiary}
        onChange={(id) => set({ beneficiary: id, ...(!takesReference(beneficiaries.find(id)) && { reference: '' }) })}
        autoFocus={value.beneficiary === ''}
        error={fieldError(error, 'beneficiary_id')}
        hint={beneficiary && `${railFacts[beneficiary.payment_rail].label}, ${beneficiary.destination_mask}`}
      />
      <MoneyField
        label={t('amount')}
        large
        autoFocus={value.beneficiary !== ''}
        {...field('amount', 'amount_minor')}
        currency={currency}
        hint={balance && tPay('amount_available', { amount: moneyText(balance.available_minor, currency) })}
      />
      <TextField label={t('purpose')} optional {...field('narrative')} maxLength={140} hint={tPay('purpose.hint')} />
      {takesReference(beneficiary) && (
        <TextField
          label={t('account_reference')}
          optional={!beneficiary?.account_reference_required}
          {...field('reference', 'account_reference')}
          maxLength={20}
          hint={beneficiary?.account_reference_required ? tPay('reference.required') : tPay('reference.hint')}
        />
      )}
      <SendLater {...field('time', 'execute_at')} />
      <details>
        <summary className="muted small">{tPay('more')}</summary>
        <div className="stack" style={{ marginTop: '14px' }}>
          <TextField label={tPay('type')} optional {...field('type', 'payment_type')} maxLength={64} hint={tPay('type.hint')} />
          <TextField
            label={t('purpose_code')}
            optional
            {...field('purposeCode', 'purpose_code')}
            maxLength={4}
            hint={tPay('purpose_code.hint')}
          />
          {mandates.length > 0 && (
            <SelectField
              label={t('mandate')}
              optional
              {...field('mandate', 'mandate_id')}
              emptyLabel={tPay('none')}
              options={mandates}
              hint={tPay('mandate.hint')}
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

/** Last step before money leaves: amount, beneficiary, rail, and outcome. */
export const ReviewPayment = ({ fields, draft, beneficiary, decision, verdict, busy, error, onSend, onBack }: Props) => {
  const { currency, workspace } = useSession()
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  const sends = verdict.kind === 'send'
  const amount = moneyText(draft.amount_minor, currency)
  return (
    <Form className="narrow" ready={verdict.tone !== 'bad'} busy={busy} onSubmit={onSend}>
      <Card
        footer={
          <>
            <Button onClick={onBack} size="large">
              {tPay('edit')}
            </Button>
            <Submit size="large" busy={busy} disabled={verdict.tone === 'bad'}>
              {sends ? tPay('send', { amount }) : verdict.kind === 'later' ? tPay('schedule', { amount }) : tPay('request')}
            </Submit>
          </>
        }
      >
        <div>
          <h2 ref={heading} tabIndex={-1} className="muted">
            {tPay('pay', { amount: shortMoney(draft.amount_minor, currency), display_name: beneficiary.display_name })}
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
            [tPay('to')]: beneficiary.display_name,
            [t('fee')]: feeWords(draft.amount_minor, decision.fee_minor, currency),
            [tPay('legal_name')]: beneficiary.legal_name,
            [t('destination')]: (
              <span>
                {railFacts[beneficiary.payment_rail].label}, <span className="mono">{beneficiary.destination_mask}</span>
              </span>
            ),
            [tPay('sent')]: draft.execute_at && dueWords(draft.execute_at),
            [t('purpose')]: fields.narrative.trim(),
            [t('account_reference')]: draft.account_reference,
            [t('purpose_code')]: fields.purposeCode.trim().toUpperCase(),
            [t('type')]: fields.type.trim() && typeLabel(fields.type.trim()),
            [tPay('from')]: workspace.name,
          }}
        />
        {sends && <p className="faint small">{tPay('not_recalled')}</p>}
        {draft.execute_at && <p className="faint small">{tPay('cancellable')}</p>}
        <Failure error={error} />
      </Card>
    </Form>
  )
}
