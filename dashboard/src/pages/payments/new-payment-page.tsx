import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation, useSearchParams } from 'wouter'
import { api, call } from '../../api/client.ts'
import { mandatesQuery } from '../../api/queries.ts'
import { type Beneficiaries, useBeneficiaries } from '../../api/use-beneficiaries.ts'
import { useIdempotencyKey } from '../../lib/idempotency.ts'
import { moneyText, parseMajor } from '../../lib/money.ts'
import { railLabels } from '../../lib/rails.ts'
import { useSession } from '../../shell/session.tsx'
import { Button, LinkButton } from '../../ui/button.tsx'
import { Failure, fieldError } from '../../ui/failure.tsx'
import { MoneyField, SelectField, TextField } from '../../ui/field.tsx'
import { Card, Empty, PageHeader } from '../../ui/layout.tsx'
import { announce } from '../../ui/toast.tsx'
import { DryRun, useDryRun, verdictOf } from './dry-run.tsx'

const NoBeneficiary = () => (
  <div className="card">
    <Empty
      icon="people"
      title="First, somebody to pay"
      actions={
        <LinkButton href="/beneficiaries/new" variant="primary">
          Add a beneficiary
        </LinkButton>
      }
    >
      A beneficiary is where money goes: a phone, a business or a bank account. It is stored once and paid by name.
    </Empty>
  </div>
)

export const NewPaymentPage = () => {
  const beneficiaries = useBeneficiaries()
  const payable = beneficiaries.all.filter(({ status }) => status === 'active')
  return (
    <div className="stack">
      <PageHeader title="New payment" back={{ href: '/payments', label: 'Payments' }} />
      {!beneficiaries.isPending && payable.length === 0 ? <NoBeneficiary /> : <PaymentForm beneficiaries={beneficiaries} />}
    </div>
  )
}

const useMandateOptions = () => {
  const { data } = useInfiniteQuery(mandatesQuery)
  const active = data?.pages.flatMap((page) => page.data).filter(({ status }) => status === 'active') ?? []
  return active.map(({ id, description }) => ({ value: id, label: description }))
}

const PaymentForm = ({ beneficiaries }: { beneficiaries: Beneficiaries }) => {
  const { currency, account, ownsBalance } = useSession()
  const [params] = useSearchParams()
  const [, navigate] = useLocation()
  const client = useQueryClient()
  const keyFor = useIdempotencyKey()
  const mandates = useMandateOptions()
  const [beneficiaryId, setBeneficiaryId] = useState(params.get('beneficiary') ?? '')
  const [amount, setAmount] = useState('')
  const [reference, setReference] = useState('')
  const [narrative, setNarrative] = useState('')
  const [type, setType] = useState('')
  const [mandate, setMandate] = useState('')

  const minor = parseMajor(amount)
  const beneficiary = beneficiaries.find(beneficiaryId)
  const draft =
    beneficiaryId && minor !== null && minor !== '0'
      ? {
          beneficiary_id: beneficiaryId,
          amount_minor: minor,
          ...(type.trim() && { payment_type: type.trim() }),
          ...(mandate && { mandate_id: mandate }),
        }
      : null
  const run = useDryRun(draft)
  const available = ownsBalance ? account.balance.available_minor : null
  const verdict = draft && run.decision ? verdictOf(run.decision, draft.amount_minor, available, currency) : null

  const send = useMutation({
    mutationFn: () => {
      const body = {
        beneficiary_id: beneficiaryId,
        amount_minor: minor ?? '0',
        ...draft,
        ...(reference.trim() && { account_reference: reference.trim() }),
        ...(narrative.trim() && { narrative: narrative.trim() }),
      }
      return call(api.POST('/v1/payments', { body, headers: keyFor(body) }))
    },
    onSuccess: (payment) => {
      client.setQueryData(['payment', payment.id], payment)
      void client.invalidateQueries({ queryKey: ['payments'] })
      announce(payment.status === 'pending_approval' ? 'Waiting for approval' : 'On its way')
      navigate(`/payments/${payment.id}`)
    },
  })
  const refused = verdict?.tone === 'bad'
  const verb = verdict?.tone === 'warn' ? 'Ask for approval of' : 'Send'
  return (
    <form
      className="split"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        if (draft && !refused && !send.isPending) send.mutate()
      }}
    >
      <Card
        footer={
          <>
            {verdict && <p className={`only-narrow small grow verdict-${verdict.tone}`}>{verdict.title}</p>}
            <Button type="submit" variant="primary" size="large" busy={send.isPending} disabled={!draft || refused}>
              {draft ? `${verb} ${moneyText(draft.amount_minor, currency)}` : 'Send'}
            </Button>
          </>
        }
      >
        <div className="stack">
          <SelectField
            label="Beneficiary"
            value={beneficiaryId}
            onChange={setBeneficiaryId}
            error={fieldError(send.error, 'beneficiary_id')}
            hint={beneficiary && `${railLabels[beneficiary.payment_rail]}, ${beneficiary.destination_mask}`}
            options={[
              { value: '', label: 'Choose who is paid' },
              ...beneficiaries.all
                .filter(({ status }) => status !== 'archived')
                .map(({ id, display_name, status }) => ({
                  value: id,
                  label: status === 'frozen' ? `${display_name} (stopped)` : display_name,
                })),
            ]}
          />
          <MoneyField
            label="Amount"
            large
            value={amount}
            onChange={setAmount}
            currency={currency}
            error={
              amount !== '' && minor === null
                ? 'Write an amount such as 1500 or 1,500.50'
                : fieldError(send.error, 'amount_minor')
            }
            hint={ownsBalance && `${moneyText(account.balance.available_minor, currency)} available`}
          />
          <TextField
            label="Account reference"
            optional={!beneficiary?.account_reference_required}
            value={reference}
            onChange={setReference}
            maxLength={20}
            hint={
              beneficiary?.account_reference_required
                ? 'This beneficiary asks for one: an account or invoice number.'
                : 'What the beneficiary knows the payment by.'
            }
            error={fieldError(send.error, 'account_reference')}
          />
          <TextField
            label="What it is for"
            optional
            value={narrative}
            onChange={setNarrative}
            maxLength={140}
            error={fieldError(send.error, 'narrative')}
          />
          <details>
            <summary className="quiet small">More: payment type, mandate</summary>
            <div className="stack" style={{ marginTop: '14px' }}>
              <TextField
                label="Payment type"
                optional
                value={type}
                onChange={setType}
                maxLength={64}
                hint="Policies can select by it, for example “rent”. Left empty, it is the rail."
                error={fieldError(send.error, 'payment_type')}
              />
              <SelectField
                label="Mandate"
                optional
                value={mandate}
                onChange={setMandate}
                options={[{ value: '', label: 'None' }, ...mandates]}
                hint="A mandate that fits gives one approval by its signer."
              />
            </div>
          </details>
          <Failure error={send.error} />
        </div>
      </Card>
      <div className="split-aside">
        <DryRun draft={draft} run={run} />
      </div>
    </form>
  )
}
