import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Schemas } from '../../api/queries.ts'
import { moneyText } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { TextNotice, Time } from '../../ui/page.tsx'

type Warning = Schemas['Decision']['warnings'][number]
type Words = { title: string; text: ReactNode }

const makerWords = ({ by: { grant_id, label } }: Extract<Warning, { by: unknown }>): string =>
  grant_id === null ? 'A person' : label === null ? 'A key or an agent' : `“${label}”, a key or an agent,`

const wordsOf = (warning: Warning, currency: string): Words => {
  switch (warning.code) {
    case 'possible_duplicate':
      return {
        title: 'Possible duplicate',
        text: (
          <>
            A payment of the same amount to the same beneficiary was made <Time at={warning.created_at} />.{' '}
            <Link href={`/payments/${warning.payment_id}`}>View that payment</Link>
          </>
        ),
      }
    case 'similar_name':
      return {
        title: 'The name looks like another beneficiary’s',
        text: (
          <>
            This one was never paid. <Link href={`/beneficiaries/${warning.beneficiary_id}`}>{warning.name}</Link> was, with
            another number.
          </>
        ),
      }
    case 'name_differs':
      return {
        title: 'The list calls this beneficiary by another name',
        text: (
          <>
            The list says “<bdi>{warning.given_name}</bdi>”, and this is “<bdi>{warning.name}</bdi>”. The money goes to the number
            in the list.
          </>
        ),
      }
    case 'name_mismatch':
      return warning.verification === 'no_match'
        ? {
            title: 'Another name is registered for this number',
            text: (
              <>
                The payment method reports “<bdi>{warning.name}</bdi>”. Ask the beneficiary for the right number before you pay.
              </>
            ),
          }
        : {
            title: 'The name of this beneficiary is not confirmed',
            text: 'The payment method gave no name for this number. Check it with the beneficiary.',
          }
    case 'unusual_amount':
      return {
        title: 'Unusual amount',
        text: `More than five times what this beneficiary usually gets, ${moneyText(warning.typical_amount_minor, currency)}.`,
      }
    case 'new_payee':
      return {
        title: 'No person has confirmed this beneficiary',
        text: (
          <>
            {makerWords(warning)} created it <Time at={warning.at} />. Check that it belongs to the right person.
          </>
        ),
      }
    case 'changed_payee':
      return {
        title: 'The name of this beneficiary was changed',
        text: (
          <>
            {makerWords(warning)} changed it <Time at={warning.at} />. Check that it still belongs to the right person.
          </>
        ),
      }
  }
}

/** What a decision does not forbid but a person should know. */
export const DecisionWarnings = ({ decision }: { decision: { warnings: readonly Warning[] } }) => {
  const { currency } = useSession()
  return decision.warnings.map((warning) => {
    const { title, text } = wordsOf(warning, currency)
    return (
      <TextNotice key={warning.code} tone="warn" title={title}>
        {text}
      </TextNotice>
    )
  })
}
