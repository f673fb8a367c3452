import { useInfiniteQuery, useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { api, call } from '../../api/client.ts'
import { useIdempotencyKey } from '../../lib/idempotency.ts'
import { moneyText, parseMajor } from '../../lib/money.ts'
import { useSession } from '../../shell/session.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Button } from '../../ui/button.tsx'
import { Failure, fieldError } from '../../ui/failure.tsx'
import { MoneyField, TextField } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Card, Empty, PageHeader } from '../../ui/layout.tsx'
import { Listing } from '../../ui/listing.tsx'
import { Time } from '../../ui/time.tsx'
import { recentHistory } from '../overview/balance.tsx'

const quick = ['500', '1000', '5000', '10000']

export const TopUpPage = () => {
  const { currency, can, ownsBalance, workspace } = useSession()
  const [, navigate] = useLocation()
  const keyFor = useIdempotencyKey()
  const [amount, setAmount] = useState('')
  const [phone, setPhone] = useState('')
  const minor = parseMajor(amount)
  const start = useMutation({
    mutationFn: () => {
      const body = { amount_minor: minor ?? '0', phone_number: phone.replaceAll(' ', '') }
      return call(api.POST('/v1/topups/initiate', { body, headers: keyFor(body) }))
    },
    onSuccess: (topup) => navigate(`/top-up/${topup.id}`),
  })
  const ready = minor !== null && minor !== '0' && phone.trim() !== '' && can('topup.create')
  return (
    <div className="stack">
      <PageHeader
        title="Top up"
        lead={
          ownsBalance
            ? 'Pay in from M-PESA. You confirm on the phone.'
            : `Pays in to the balance that ${workspace.name} draws on.`
        }
      />
      <div className="split">
        <form
          noValidate
          onSubmit={(event) => {
            event.preventDefault()
            if (ready && !start.isPending) start.mutate()
          }}
        >
          <Card
            footer={
              <Button type="submit" variant="primary" size="large" busy={start.isPending} disabled={!ready}>
                {minor && minor !== '0' ? `Ask for ${moneyText(minor, currency)}` : 'Ask the phone'}
              </Button>
            }
          >
            <div className="stack">
              <MoneyField
                label="Amount"
                large
                value={amount}
                onChange={setAmount}
                currency={currency}
                hint="Whole shillings, 1 to 250,000."
                error={amount !== '' && minor === null ? 'Write an amount such as 1500' : fieldError(start.error, 'amount_minor')}
              />
              <div className="row row-tight">
                {quick.map((value) => (
                  <Button key={value} size="small" onClick={() => setAmount(value)}>
                    {moneyText(`${value}00`, currency).replace('.00', '')}
                  </Button>
                ))}
              </div>
              <TextField
                label="M-PESA phone number"
                type="tel"
                inputMode="tel"
                autoComplete="tel"
                value={phone}
                onChange={setPhone}
                placeholder="0712 345 678"
                hint="Its owner is asked to confirm with the M-PESA PIN."
                error={fieldError(start.error, 'phone_number')}
              />
              <Failure error={start.error} />
            </div>
          </Card>
        </form>
        <div className="split-aside">{ownsBalance && <RecentTopUps />}</div>
      </div>
    </div>
  )
}

const RecentTopUps = () => {
  const { currency } = useSession()
  const nothing = <Empty icon="topup" title="No top-up yet" />
  return (
    <Card title="Paid in lately" flush>
      <Listing query={useInfiniteQuery(recentHistory)} rows={2} empty={nothing}>
        {(entries) => {
          const topups = entries.filter(({ type }) => type === 'topup').slice(0, 6)
          if (topups.length === 0) return nothing
          return (
            <ul className="rows">
              {topups.map((entry) => (
                <li key={entry.id}>
                  <Link href={`/top-up/${entry.reference.id}`} className="item">
                    <span className="avatar avatar-good">
                      <Icon name="topup" />
                    </span>
                    <span className="item-main item-note">
                      <Time at={entry.created_at} />
                    </span>
                    <Amount minor={entry.amount_minor} currency={currency} signed />
                  </Link>
                </li>
              ))}
            </ul>
          )
        }}
      </Listing>
    </Card>
  )
}
