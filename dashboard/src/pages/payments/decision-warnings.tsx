import { Link } from 'wouter'
import type { Schemas } from '../../api/types.ts'
import { moneyText } from '../../lib/money.ts'
import { useSession } from '../../shell/session.tsx'
import { Notice } from '../../ui/layout.tsx'
import { Time } from '../../ui/time.tsx'

type Warning = Schemas['Decision']['warnings'][number]
type Payee = Extract<Warning, { by: unknown }>

const makerWords = ({ by: { grant_id, label } }: Payee): string =>
  grant_id === null ? 'A person' : label === null ? 'A key or an agent' : `“${label}”, a key or an agent,`

const PayeeWarning = ({ warning }: { warning: Payee }) =>
  warning.code === 'new_payee' ? (
    <Notice tone="warn" title="No person has confirmed this beneficiary">
      <p className="quiet">
        {makerWords(warning)} created it <Time at={warning.at} />. Check that it belongs to the right person.
      </p>
    </Notice>
  ) : (
    <Notice tone="warn" title="The name of this beneficiary was changed">
      <p className="quiet">
        {makerWords(warning)} changed it <Time at={warning.at} />. Check that it still belongs to the right person.
      </p>
    </Notice>
  )

const NameWarning = ({ warning }: { warning: Extract<Warning, { code: 'name_mismatch' }> }) =>
  warning.verification === 'no_match' ? (
    <Notice tone="warn" title="Another name is registered for this number">
      <p className="quiet">
        The payment method reports “<bdi>{warning.name}</bdi>”. Ask the beneficiary for the right number before you pay.
      </p>
    </Notice>
  ) : (
    <Notice tone="warn" title="The name of this beneficiary is not confirmed">
      <p className="quiet">The payment method gave no name for this number. Check it with the beneficiary.</p>
    </Notice>
  )

const AmountWarning = ({ typical }: { typical: string }) => {
  const { currency } = useSession()
  return (
    <Notice tone="warn" title="Unusual amount">
      <p className="quiet">More than five times what this beneficiary usually gets, {moneyText(typical, currency)}.</p>
    </Notice>
  )
}

const OneWarning = ({ warning }: { warning: Warning }) => {
  switch (warning.code) {
    case 'possible_duplicate':
      return (
        <Notice tone="warn" title="Possible duplicate">
          <p className="quiet">
            A payment of the same amount to the same beneficiary was made <Time at={warning.created_at} />.{' '}
            <Link href={`/payments/${warning.payment_id}`}>View that payment</Link>
          </p>
        </Notice>
      )
    case 'similar_name':
      return (
        <Notice tone="warn" title="The name looks like another beneficiary’s">
          <p className="quiet">
            This one was never paid. <Link href={`/beneficiaries/${warning.beneficiary_id}`}>{warning.name}</Link> was, with
            another number.
          </p>
        </Notice>
      )
    case 'name_differs':
      return (
        <Notice tone="warn" title="The list calls this beneficiary by another name">
          <p className="quiet">
            The list says “<bdi>{warning.given_name}</bdi>”, and this is “<bdi>{warning.name}</bdi>”. The money goes to the number
            in the list.
          </p>
        </Notice>
      )
    case 'name_mismatch':
      return <NameWarning warning={warning} />
    case 'unusual_amount':
      return <AmountWarning typical={warning.typical_amount_minor} />
    default:
      return <PayeeWarning warning={warning} />
  }
}

/** What a decision does not forbid but a person should know. */
export const DecisionWarnings = ({ decision }: { decision: { warnings: readonly Warning[] } }) =>
  decision.warnings.map((warning) => <OneWarning key={warning.code} warning={warning} />)
