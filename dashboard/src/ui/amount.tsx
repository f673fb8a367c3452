import { cx } from '../lib/class-names.ts'
import { majorText } from '../lib/money.ts'

type AmountProps = {
  minor: string
  currency: string
  size?: 'normal' | 'medium' | 'big' | 'hero'
  /** A change of a balance: shown with its sign. */
  signed?: boolean
  /** In the colour of income. Money that is only returned is not income. */
  gain?: boolean
}

/** An amount never stands without its currency. */
export const Amount = ({ minor, currency, size = 'normal', signed = false, gain = signed }: AmountProps) => {
  const plus = signed && !minor.startsWith('-') && minor !== '0'
  return (
    <span className={cx('amount', size !== 'normal' && `amount-${size}`, plus && gain && 'good-text')}>
      <span className="amount-currency">{currency}</span>
      {plus && '+'}
      {majorText(minor)}
    </span>
  )
}
