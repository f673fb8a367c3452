import { useMutation } from '@tanstack/react-query'
import { useLocation, useSearchParams } from 'wouter'
import { api, call } from '../../api/client.ts'
import { useDraft } from '../../lib/drafts.ts'
import { useIdempotencyKey } from '../../lib/idempotency.ts'
import { moneyText, parseMajor, shortMoney } from '../../lib/money.ts'
import { Allowed } from '../../shell/allowed.tsx'
import { useSession } from '../../shell/session.tsx'
import { Button, Submit } from '../../ui/button.tsx'
import { Failure, fieldError } from '../../ui/failure.tsx'
import { MoneyField, TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Card, Page } from '../../ui/layout.tsx'
import { DepositForm } from './deposit-form.tsx'
import { RecentTopUps } from './recent-top-ups.tsx'

const quick = ['500', '1000', '5000', '10000']

export const TopUpPage = () => {
  const { ownsBalance, workspace } = useSession()
  return (
    <Page
      title="Top up"
      lead={
        ownsBalance
          ? 'Add money by a prompt on a phone, or by a deposit of any amount.'
          : `Adds money to the balance that ${workspace.name} pays from.`
      }
    >
      <div className="split">
        <Allowed permission="topup.create" action="top up">
          <div className="stack">
            <TopUpForm />
            <DepositForm />
          </div>
        </Allowed>
        <div className="split-aside">{ownsBalance && <RecentTopUps />}</div>
      </div>
    </Page>
  )
}

const TopUpForm = () => {
  const { currency, account } = useSession()
  const [, navigate] = useLocation()
  const [params] = useSearchParams()
  const keyFor = useIdempotencyKey()
  const { value, set, clear } = useDraft('top-up', account.id, () => ({ amount: '', phone: '' }))
  const minor = parseMajor(value.amount)
  const start = useMutation({
    mutationFn: () => {
      const body = { amount_minor: minor ?? '0', phone_number: value.phone.replaceAll(' ', '') }
      return call(api.POST('/v1/topups/initiate', { body, headers: keyFor(body) }))
    },
    onSuccess: (topup) => {
      clear()
      navigate(`/top-up/${topup.id}${params.size > 0 ? `?${params}` : ''}`)
    },
  })
  const ready = minor !== null && minor !== '0' && value.phone.trim() !== ''
  return (
    <Form ready={ready} busy={start.isPending} onSubmit={() => start.mutate()}>
      <Card
        footer={
          <Submit size="large" busy={start.isPending} disabled={!ready}>
            {minor && minor !== '0' ? `Send M-PESA prompt for ${moneyText(minor, currency)}` : 'Send M-PESA prompt'}
          </Submit>
        }
      >
        <div className="stack">
          <MoneyField
            label="Amount"
            large
            autoFocus
            value={value.amount}
            onChange={(amount) => set({ amount })}
            currency={currency}
            hint="Whole shillings, 1 to 250,000."
            error={
              value.amount !== '' && minor === null ? 'Enter an amount such as 1500' : fieldError(start.error, 'amount_minor')
            }
          />
          <div className="row row-tight">
            {quick.map((amount) => (
              <Button key={amount} size="small" onClick={() => set({ amount })}>
                {shortMoney(`${amount}00`, currency)}
              </Button>
            ))}
          </div>
          <TextField
            label="M-PESA phone number"
            type="tel"
            inputMode="tel"
            autoComplete="tel"
            value={value.phone}
            onChange={(phone) => set({ phone })}
            placeholder="0712 345 678"
            hint="This phone gets a prompt for the M-PESA PIN."
            error={fieldError(start.error, 'phone_number')}
          />
          <Failure error={start.error} />
        </div>
      </Card>
    </Form>
  )
}
