import { useQuery } from '@tanstack/react-query'
import { useBeneficiaryNames } from '../../api/names.ts'
import { api, mandateQuery, type Schemas } from '../../api/queries.ts'
import { moneyText } from '../../lib/money.ts'
import { typeLabel } from '../../lib/rails.ts'
import { listWords, shortAddress } from '../../lib/words.ts'
import { LoadState, useSession } from '../../shell/session.tsx'
import { CopyButton, CopyText } from '../../ui/button.tsx'
import { Meter } from '../../ui/charts.tsx'
import { ConfirmButton } from '../../ui/form.tsx'
import { Card, ExactTime, Facts, Page, StatusBadge } from '../../ui/page.tsx'
import { SignedText } from '../approvals/sign-decision.tsx'

const back = { href: '/mandates', label: 'Mandates' }

export const MandatePage = ({ id }: { id: string }) => {
  const mandate = useQuery(mandateQuery(id))
  const { can } = useSession()
  return (
    <Page
      title={mandate.data?.description ?? 'Mandate'}
      back={back}
      actions={
        mandate.data && (
          <ConfirmButton
            button={{
              variant: 'danger',
              children: 'Revoke',
              offered: mandate.data.status === 'active' && can('mandate.manage'),
            }}
            title="Revoke this mandate?"
            action="Revoke"
            change={() => api.POST('/v1/intent-mandates/{id}/revoke', { path: { id }, body: {} })}
            announcement={() => 'Mandate revoked'}
            outdates={['mandates']}
            keeps={() => mandateQuery(id)}
          >
            <p>It approves no further payments. Payments already sent still arrive.</p>
          </ConfirmButton>
        )
      }
    >
      <LoadState query={mandate} path={`/v1/intent-mandates/${id}`} />
      {mandate.data && <Detail mandate={mandate.data} />}
    </Page>
  )
}

const Detail = ({ mandate }: { mandate: Schemas['IntentMandate'] }) => {
  const { currency } = useSession()
  const nameOf = useBeneficiaryNames(mandate.beneficiary_ids)
  return (
    <>
      <Card>
        <div className="stack-s">
          <div className="row row-between">
            <p>
              <span className="amount-medium">{moneyText(mandate.spent_minor, currency)}</span>{' '}
              <span className="quiet">of {moneyText(mandate.max_total_minor, currency)} used</span>
            </p>
            <StatusBadge status={mandate.status} />
          </div>
          <Meter used={mandate.spent_minor} limit={mandate.max_total_minor} currency={currency} label="Used" />
        </div>
      </Card>
      <Card title="Terms">
        <Facts
          stacked
          facts={{
            'Per payment':
              mandate.max_per_payment_minor === null
                ? 'No limit below the total'
                : `Up to ${moneyText(mandate.max_per_payment_minor, currency)}`,
            Payments:
              mandate.max_payments === null
                ? `${mandate.payments_made} so far`
                : `${mandate.payments_made} of ${mandate.max_payments}`,
            Beneficiaries: mandate.beneficiary_ids.length === 0 ? 'Anyone' : listWords(mandate.beneficiary_ids.map(nameOf)),
            Types: mandate.payment_types.length === 0 ? 'Any' : listWords(mandate.payment_types.map(typeLabel)),
            Starts: <ExactTime at={mandate.valid_from} />,
            Ends: <ExactTime at={mandate.expires_at} />,
            Revoked: mandate.revoked_at && <ExactTime at={mandate.revoked_at} />,
            'Signed by': <CopyText value={mandate.signer} text={shortAddress(mandate.signer)} label="wallet address" />,
            '': <CopyButton value={mandate.id}>Copy mandate ID</CopyButton>,
          }}
        />
      </Card>
      <Card title="Signed message">
        <SignedText message={mandate.message} />
      </Card>
    </>
  )
}
