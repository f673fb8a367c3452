import { Link } from 'wouter'
import {
  type Fact,
  type FactLevel,
  factItemText,
  factShort,
  factTitle,
  grouped,
  inOrder,
  isToldFirst,
  namesSummary,
} from '../../../../src/lib/approval-facts.ts'
import { moneyText } from '../../lib/words.ts'
import { Badge, Notice, type Tone } from '../../ui/page.tsx'

const tones: Readonly<Record<FactLevel, Tone>> = { danger: 'bad', warning: 'warn', info: 'info' }

type Props = {
  facts: readonly Fact[]
  /** How many payments are decided together. */
  of: number
  currency: string
}

/** Two words of each fact that comes before anything else, for a row. */
export const FactBadges = ({ facts, of }: Omit<Props, 'currency'>) =>
  inOrder(facts)
    .filter(isToldFirst)
    .map((fact) => (
      <Badge key={fact.type} tone={tones[fact.level]}>
        {of > 1 ? `${factShort(fact)} ${grouped(fact.count)}` : factShort(fact)}
      </Badge>
    ))

/** What is dangerous or unusual, with the payments that it is about, the heaviest first; of a batch also how its names compare. */
export const FactNotices = ({ facts, of, currency }: Props) => {
  const money = (minor: string) => moneyText(minor, currency)
  const names = namesSummary(facts, of)
  return (
    <>
      {inOrder(facts)
        .filter(isToldFirst)
        .map((fact) => (
          <Notice key={fact.type} tone={tones[fact.level]} title={factTitle(fact, of)}>
            {fact.items.map((one, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: two payments of a batch may be alike
              <p key={index}>
                <bdi>{factItemText(fact, one, money)}</bdi>
                {one.payment_id && (
                  <>
                    {' '}
                    <Link href={`/payments/${one.payment_id}`}>View that payment</Link>
                  </>
                )}
              </p>
            ))}
            {fact.items.length > 0 && fact.count > fact.items.length && (
              <p className="quiet">and {grouped(fact.count - fact.items.length)} more</p>
            )}
          </Notice>
        ))}
      {names && <p className="quiet">{names}</p>}
    </>
  )
}
