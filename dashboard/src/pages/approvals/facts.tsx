import { Link } from 'wouter'
import {
  type Fact,
  type FactLevel,
  factAbout,
  factItemText,
  factShort,
  factsOfWarnings,
  factTitle,
  groupDigits,
  inOrder,
  isHeadline,
  namesSummary,
  type WireWarning,
} from '../../../../src/lib/approval-facts.ts'
import { factTexts, t } from '../../lib/language.ts'
import { fullTime } from '../../lib/time.ts'
import { moneyText } from '../../lib/words.ts'
import { Badge, Notice, type Tone } from '../../ui/page.tsx'

const tones: Readonly<Record<FactLevel, Tone>> = { danger: 'bad', warning: 'warn', info: 'info' }

/** Texts and time format in the reader's language. */
const wording = { catalogue: factTexts, formatTime: fullTime }
const moneyIn = (currency: string) => (minor: string) => moneyText(minor, currency)

type Props = {
  facts: readonly Fact[]
  /** Number of payments decided together. */
  of: number
  currency: string
}

/** A badge of a few words in a row, for each fact that an approver must see first. */
export const FactBadges = ({ facts, of }: Omit<Props, 'currency'>) =>
  inOrder(facts)
    .filter(isHeadline)
    .map((fact) => (
      <Badge key={fact.type} tone={tones[fact.level]}>
        {of > 1 ? `${factShort(fact, factTexts)} ${groupDigits(fact.count)}` : factShort(fact, factTexts)}
      </Badge>
    ))

/** Facts of a batch line, without beneficiary and amount, which the line shows itself. */
export const LineFacts = ({ facts, currency }: Omit<Props, 'of'>) =>
  facts.map((fact) => {
    const [item] = fact.items
    const about = item && factAbout(fact, item, moneyIn(currency), wording)
    return (
      <Badge key={fact.type} tone={tones[fact.level]}>
        {about ? `${factShort(fact, factTexts)}: ${about}` : factShort(fact, factTexts)}
      </Badge>
    )
  })

/** Dangerous or unusual facts with their payments, the most serious first. For a batch, a summary of its names follows. */
export const FactNotices = ({ facts, of, currency }: Props) => {
  const names = namesSummary(facts, of, factTexts)
  return (
    <>
      {inOrder(facts)
        .filter(isHeadline)
        .map((fact) => (
          <Notice key={fact.type} tone={tones[fact.level]} title={factTitle(fact, of, factTexts)}>
            {fact.items.map((one, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: two payments of a batch may be alike
              <p key={index}>
                <bdi>{factItemText(fact, one, moneyIn(currency), wording)}</bdi>
                {one.payment_id && (
                  <>
                    {' '}
                    <Link href={`/payments/${one.payment_id}`}>{t('view_that_payment')}</Link>
                  </>
                )}
              </p>
            ))}
            {fact.items.length > 0 && fact.count > fact.items.length && (
              <p className="muted">{factTexts.more.replace('{count}', groupDigits(fact.count - fact.items.length))}</p>
            )}
          </Notice>
        ))}
      {names && <p className="muted">{names}</p>}
    </>
  )
}

export type AboutPayment = Parameters<typeof factsOfWarnings>[1]

/** Warnings of a decision that still allows the payment. */
export const WarningNotices = ({
  warnings,
  about,
  currency,
}: {
  warnings: readonly WireWarning[]
  about: AboutPayment
  currency: string
}) => <FactNotices facts={factsOfWarnings(warnings, about)} of={1} currency={currency} />
