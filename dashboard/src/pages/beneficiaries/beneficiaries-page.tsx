import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { beneficiariesQuery, madeByQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { useFilters } from '../../lib/filters.ts'
import { railFacts } from '../../lib/rails.ts'
import { useSession } from '../../shell/session.tsx'
import { LinkButton } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Empty, PageHeader } from '../../ui/layout.tsx'
import { Listing } from '../../ui/listing.tsx'
import { Badge, StatusBadge } from '../../ui/status.tsx'
import { MadeByGrant } from './made-by-grant.tsx'

type Beneficiary = Schemas['Beneficiary']

const Row = ({ beneficiary }: { beneficiary: Beneficiary }) => (
  <Link href={`/beneficiaries/${beneficiary.id}`} className="item">
    <span className="avatar">
      <Icon name={railFacts[beneficiary.payment_rail].icon} />
    </span>
    <span className="item-main">
      <span className="item-title">{beneficiary.display_name}</span>
      <span className="item-note">
        {railFacts[beneficiary.payment_rail].label} · <span className="mono">{beneficiary.destination_mask}</span>
      </span>
    </span>
    <span className="item-side">
      {beneficiary.confirmation === 'proposed' && <Badge tone="warn">Not confirmed</Badge>}
      {beneficiary.verification.status === 'no_match' && <Badge tone="warn">Another name</Badge>}
      {beneficiary.status === 'frozen' && <Badge tone="info">Frozen</Badge>}
      {beneficiary.status === 'archived' && <StatusBadge status="archived" />}
      <span className="faint">
        <Icon name="forward" size={16} />
      </span>
    </span>
  </Link>
)

const matches = (beneficiary: Beneficiary, text: string): boolean =>
  [beneficiary.display_name, beneficiary.legal_name ?? '', beneficiary.type].some((part) =>
    part.toLowerCase().includes(text.toLowerCase()),
  )

export const BeneficiariesPage = () => {
  const { can } = useSession()
  const [search, setSearch] = useState('')
  const madeBy = useFilters().get('made_by')
  const create = can('beneficiary.manage') && (
    <LinkButton href="/beneficiaries/new" variant="primary" icon="plus">
      Add beneficiary
    </LinkButton>
  )
  return (
    <div className="stack">
      <PageHeader
        title="Beneficiaries"
        lead="The people and businesses you pay. Destinations are encrypted and always shown masked."
        actions={create}
      />
      {madeBy !== null && <MadeByGrant grantId={madeBy} />}
      <search className="filters">
        <TextField label="Search" type="search" value={search} onChange={setSearch} placeholder="Name or category" />
      </search>
      <section className="card" aria-label="Beneficiaries">
        <Listing
          query={useInfiniteQuery(madeBy === null ? beneficiariesQuery : madeByQuery(madeBy))}
          empty={
            <Empty icon="people" title="No beneficiaries yet" actions={create}>
              Add a phone, a business or a bank account once, then pay it by name.
            </Empty>
          }
        >
          {(all) => {
            const matching = all.filter((beneficiary) => matches(beneficiary, search.trim()))
            if (matching.length === 0) return <Empty icon="search" title="No beneficiaries match" />
            return (
              <ul className="rows">
                {matching.map((beneficiary) => (
                  <li key={beneficiary.id}>
                    <Row beneficiary={beneficiary} />
                  </li>
                ))}
              </ul>
            )
          }}
        </Listing>
      </section>
    </div>
  )
}
