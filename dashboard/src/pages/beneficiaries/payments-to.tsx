import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { paymentsQuery, paymentsSummaryQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { useDebounced } from '../../lib/debounced.ts'
import { moneyText } from '../../lib/money.ts'
import { TextField } from '../../ui/field.tsx'
import { Card, Empty } from '../../ui/layout.tsx'
import { Listing } from '../../ui/listing.tsx'
import { PaymentsTable } from '../payments/payments-table.tsx'

type Props = { beneficiary: Schemas['Beneficiary'] }

/** The payments to one beneficiary; where each names an account, those to one account as well. */
export const PaymentsTo = ({ beneficiary }: Props) => {
  const [account, setAccount] = useState('')
  const account_reference = useDebounced(account.trim(), 200) || undefined
  const all = useInfiniteQuery(paymentsQuery({ beneficiary_id: beneficiary.id }))
  const filters = { beneficiary_id: beneficiary.id, account_reference }
  const shown = useInfiniteQuery(paymentsQuery(filters))
  const listed = all.data?.pages.flatMap(({ data }) => data) ?? []
  const accounts = [...new Set(listed.flatMap(({ account_reference: reference }) => reference ?? []))]
  return (
    <Card title="Payments" flush>
      {beneficiary.account_reference_required && <AccountField value={account} set={setAccount} accounts={accounts} />}
      {account_reference !== undefined && <Total filters={filters} />}
      <Listing
        query={shown}
        rows={3}
        empty={
          <Empty icon="payments" title={account_reference === undefined ? 'No payments yet' : 'No payments to this account'} />
        }
      >
        {(rows) => <PaymentsTable payments={rows} without="payee" />}
      </Listing>
    </Card>
  )
}

const AccountField = ({ value, set, accounts }: { value: string; set: (text: string) => void; accounts: readonly string[] }) => {
  const id = useId()
  return (
    <search className="filters">
      <TextField label="Account" value={value} onChange={set} maxLength={20} hint="The whole account number" list={id} mono />
      <datalist id={id}>
        {accounts.map((account) => (
          <option key={account} value={account} />
        ))}
      </datalist>
    </search>
  )
}

const Total = ({ filters }: { filters: Parameters<typeof paymentsSummaryQuery>[0] }) => {
  const { data } = useQuery(paymentsSummaryQuery(filters, 1))
  if (!data || data.spent.count === 0) return null
  const { count, amount_minor } = data.spent
  return (
    <p className="filters-note">
      {count === 1 ? '1 payment' : `${count} payments`} to this account, {moneyText(amount_minor, data.currency)} in all
    </p>
  )
}
