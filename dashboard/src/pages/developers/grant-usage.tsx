import type { Schemas } from '../../api/types.ts'
import { moneyText } from '../../lib/money.ts'
import { useSession } from '../../shell/session.tsx'
import { Meter } from '../../ui/meter.tsx'

type Props = { grant: Pick<Schemas['Grant'], 'usage' | 'spending_controls'> }

/** What has been spent, against the limits where there are any. */
export const GrantUsage = ({ grant }: Props) => {
  const { currency } = useSession()
  const periods = [
    { name: 'Used today', used: grant.usage.today_minor, limit: grant.spending_controls.daily_limit_minor },
    { name: 'Used this month', used: grant.usage.month_minor, limit: grant.spending_controls.monthly_limit_minor },
  ]
  return (
    <div className="columns">
      {periods.map(({ name, used, limit }) => (
        <div key={name} className="stack-xs">
          <p className="small">
            <span className="faint">{name}</span> {moneyText(used, currency)}
            {limit !== undefined && <span className="faint"> of {moneyText(limit, currency)}</span>}
          </p>
          {limit !== undefined && <Meter used={used} limit={limit} currency={currency} label={name} />}
        </div>
      ))}
    </div>
  )
}
