import { useLocation, useSearchParams } from 'wouter'
import { api, call } from '../../api/client.ts'
import { useDraft } from '../../lib/drafts.ts'
import { moneyText, parseMajor, shortMoney } from '../../lib/money.ts'
import { Allowed } from '../../shell/allowed.tsx'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { fieldsOf, MoneyField, TextField } from '../../ui/field.tsx'
import { FormCard } from '../../ui/form.tsx'
import { Page } from '../../ui/layout.tsx'
import { useChange } from '../../ui/use-change.ts'
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
  const { value, set, clear } = useDraft('top-up', account.id, () => ({ amount: '', phone: '' }))
  const minor = parseMajor(value.amount)
  const start = useChange(
    (keyFor) => {
      const body = { amount_minor: minor ?? '0', phone_number: value.phone.replaceAll(' ', '') }
      return call(api.POST('/v1/topups/initiate', { body, headers: keyFor(body) }))
    },
    {
      onDone: (topup) => {
        clear()
        navigate(`/top-up/${topup.id}${params.size > 0 ? `?${params}` : ''}`)
      },
    },
  )
  const field = fieldsOf(value, set, start.error)
  const asked = minor !== null && minor !== '0'
  return (
    <FormCard
      large
      action={asked ? `Send M-PESA prompt for ${moneyText(minor, currency)}` : 'Send M-PESA prompt'}
      making={start}
      ready={asked && value.phone.trim() !== ''}
      onSubmit={() => start.mutate()}
    >
      <MoneyField
        label="Amount"
        large
        autoFocus
        {...field('amount', 'amount_minor')}
        currency={currency}
        hint="Whole shillings, 1 to 250,000."
        {...(value.amount !== '' && minor === null && { error: 'Enter an amount such as 1500' })}
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
        {...field('phone', 'phone_number')}
        placeholder="0712 345 678"
        hint="This phone gets a prompt for the M-PESA PIN."
      />
    </FormCard>
  )
}
