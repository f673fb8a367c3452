import { useInfiniteQuery } from '@tanstack/react-query'
import { useLocation, useSearchParams } from 'wouter'
import { depositActions } from '../../../../src/rails/texts.ts'
import { api, historyQuery } from '../../api/queries.ts'
import { useDraft } from '../../lib/drafts.ts'
import { moneyText, parseMajor, shortMoney } from '../../lib/money.ts'
import { Allowed, useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { fieldsOf, MoneyField, TextField } from '../../ui/field.tsx'
import { FormCard, useChange } from '../../ui/form.tsx'
import { Item, List } from '../../ui/listing.tsx'
import { Amount, Card, Empty, Failure, Page, Time } from '../../ui/page.tsx'

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
    (keyed) =>
      api.POST('/v1/topups/initiate', keyed({ amount_minor: minor ?? '0', phone_number: value.phone.replaceAll(' ', '') })),
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

type Method = keyof typeof depositActions
const methods = Object.keys(depositActions) as Method[]

/** Where to pay in, and under which account number: for amounts that no prompt moves. */
const DepositForm = () => {
  const [, navigate] = useLocation()
  const start = useChange((keyed, method: Method) => api.POST('/v1/topups/initiate', keyed({ method })), {
    onDone: (topup) => navigate(`/top-up/${topup.id}`),
  })
  return (
    <Card title="Deposit" note="Any amount, from any phone or bank. You get an account number to pay under.">
      <div className="row">
        {methods.map((method) => (
          <Button key={method} busy={start.isPending && start.variables === method} onClick={() => start.mutate(method)}>
            {depositActions[method]}
          </Button>
        ))}
      </div>
      <Failure error={start.error} />
    </Card>
  )
}

const RecentTopUps = () => {
  const { currency } = useSession()
  return (
    <List
      title="Recent top-ups"
      query={useInfiniteQuery(historyQuery({ type: 'topup' }, 6))}
      rows={2}
      whole
      empty={<Empty icon="topup" title="No top-ups yet" />}
    >
      {(entry) => (
        <Item href={`/top-up/${entry.reference.id}`} icon="topup" tone="good" title={<Time at={entry.created_at} />}>
          <Amount minor={entry.amount_minor} currency={currency} signed />
        </Item>
      )}
    </List>
  )
}
