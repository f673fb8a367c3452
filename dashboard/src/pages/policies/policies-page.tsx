import { useInfiniteQuery } from '@tanstack/react-query'
import { useBeneficiaryNames } from '../../api/names.ts'
import { policiesQuery, rowsOf } from '../../api/queries.ts'
import { policySentence } from '../../lib/policy-sentence.ts'
import { useSession } from '../../shell/session.tsx'
import { NewLink } from '../../ui/button.tsx'
import { Item, List } from '../../ui/listing.tsx'
import { Empty, Page } from '../../ui/page.tsx'

export const PoliciesPage = () => {
  const { can, currency } = useSession()
  const query = useInfiniteQuery(policiesQuery('active'))
  const nameOf = useBeneficiaryNames(rowsOf(query).flatMap(({ beneficiary_ids: ids }) => ids))
  const create = can('policy.create') && <NewLink href="/policies/new">New policy</NewLink>
  return (
    <Page
      title="Policies"
      lead="Spending and approval rules for everyone and every agent in this workspace. If several apply, the strictest wins."
      actions={create}
    >
      <List
        label="Policies"
        query={query}
        rows={3}
        empty={
          <Empty icon="policy" title="No policy yet" actions={create}>
            Without one, only the balance and each key’s own limits stop a payment. A policy can limit spending and require
            approval above an amount.
          </Empty>
        }
      >
        {(policy) => (
          <Item
            href={`/policies/${policy.id}`}
            icon="policy"
            title={policy.name}
            note={policySentence(policy, policy, { currency, nameOf })}
          />
        )}
      </List>
    </Page>
  )
}
