import { cx } from '../lib/class-names.ts'
import { majorText } from '../lib/money.ts'

type AmountProps = { minor: string; currency: string; size?: 'normal' | 'medium' | 'big'; signed?: boolean }

/** An amount never stands without its currency. `signed`: what it did to a balance. */
export const Amount = ({ minor, currency, size = 'normal', signed = false }: AmountProps) => {
  const gain = signed && !minor.startsWith('-') && minor !== '0'
  return (
    <span className={cx('amount', size !== 'normal' && `amount-${size}`, gain && 'amount-good')}>
      <span className="amount-currency">{currency}</span>
      {gain && '+'}
      {majorText(minor)}
    </span>
  )
}
