import { useSession } from '../../shell/session.tsx'
import { Amount } from '../../ui/amount.tsx'
import { LinkButton } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Card } from '../../ui/layout.tsx'

const names: Readonly<Record<string, string>> = {
  topups: 'Top up',
  payments: 'Pay',
  api_keys: 'Create API keys',
  oauth: 'Connect agents',
}

export const BalanceFacts = () => {
  const { account } = useSession()
  const { balance } = account
  return (
    <Card title="Balance">
      <div className="stack">
        <div>
          <p className="quiet small">Available</p>
          <Amount minor={balance.available_minor} currency={balance.currency} size="medium" />
        </div>
        <p className="quiet small">
          <Amount minor={balance.held_minor} currency={balance.currency} /> held for payments in progress
        </p>
        <ul className="stack-xs" aria-label="What this account can do">
          {Object.entries(account.capabilities).map(([capability, state]) => (
            <li key={capability} className="row row-tight">
              <span className={state === 'active' ? 'amount-good' : 'faint'}>
                <Icon name={state === 'active' ? 'check' : 'cross'} size={16} />
              </span>
              <span className={state === 'active' ? undefined : 'faint'}>
                {names[capability] ?? 'Other'}
                {state === 'disabled' && ' (disabled)'}
              </span>
            </li>
          ))}
        </ul>
        <LinkButton href="/top-up" icon="topup" wide>
          Top up
        </LinkButton>
      </div>
    </Card>
  )
}
