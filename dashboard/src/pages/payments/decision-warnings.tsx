import { Link } from 'wouter'
import type { Schemas } from '../../api/types.ts'
import { Notice } from '../../ui/layout.tsx'
import { Time } from '../../ui/time.tsx'

type Warning = Schemas['Decision']['warnings'][number]
type Payee = Exclude<Warning, { code: 'possible_duplicate' }>

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

/** What a decision does not forbid but a person should know. */
export const DecisionWarnings = ({ decision }: { decision: { warnings: readonly Warning[] } }) =>
  decision.warnings.map((warning) =>
    warning.code === 'possible_duplicate' ? (
      <Notice key={warning.payment_id} tone="warn" title="Possible duplicate">
        <p className="quiet">
          A payment of the same amount to the same beneficiary was made <Time at={warning.created_at} />.{' '}
          <Link href={`/payments/${warning.payment_id}`}>View that payment</Link>
        </p>
      </Notice>
    ) : (
      <PayeeWarning key={warning.code} warning={warning} />
    ),
  )
