import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { answerWords } from '../../../../src/policy/term-words.ts'
import { useBeneficiaryNames } from '../../api/names.ts'
import { paymentsQuery, paymentsSummaryQuery, type Schemas } from '../../api/queries.ts'
import { typeLabel } from '../../lib/rails.ts'
import { wordsOfPermission } from '../../lib/rule-words.ts'
import { countWords, listWords, moneyText } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { CopyButton } from '../../ui/button.tsx'
import { DayChart, Meter } from '../../ui/charts.tsx'
import { ConfirmButton } from '../../ui/form.tsx'
import { Listing } from '../../ui/listing.tsx'
import { Badge, Card, Empty, ExactTime, Facts, Notice, StatusBadge, TextNotice, Time } from '../../ui/page.tsx'
import { AgentTimeline } from '../agents/agent-timeline.tsx'
import { FreezeAgent } from '../agents/agents.tsx'
import { MadeByAgent } from '../agents/made-by-agent.tsx'
import { PaymentsTable } from '../payments/payments-table.tsx'

type Grant = Schemas['Grant']
type ActionsProps = {
  grant: Grant
  /** It is the reader's. */
  own: boolean
  revoke: () => Promise<unknown>
  effect: string
  children?: ReactNode
}

export const GrantActions = ({ grant, own, revoke, effect, children }: ActionsProps) => (
  <>
    <FreezeAgent agent={grant} own={own} />
    {children}
    <RevokeButton label={grant.label} revoke={revoke} effect={effect} />
  </>
)

type RevokeProps = Pick<ActionsProps, 'revoke' | 'effect'> & { label: string; small?: boolean }

export const RevokeButton = ({ label, revoke, effect, small = false }: RevokeProps) => (
  <ConfirmButton
    button={{ variant: 'danger', ...(small && { size: 'small', label: `Revoke ${label}` }), children: 'Revoke' }}
    title={`Revoke ${label}?`}
    action="Revoke"
    change={revoke}
    announcement={() => `${label} revoked`}
    outdates={['api-keys', 'grants', 'grant', 'audit']}
  >
    <p>{effect}</p>
  </ConfirmButton>
)

type Props = {
  grant: Grant
  live: boolean
  /** Who ends a freeze, as the sentence goes on. */
  until: string
  facts: Readonly<Record<string, ReactNode>>
  limitActions?: ReactNode
}

/** A key or an agent, for its owner and for who manages the workspace: its state, limits, payments and details. */
export const GrantView = ({ grant, live, until, facts, limitActions }: Props) => (
  <>
    {grant.frozen && live && (
      <TextNotice tone="info" title="Frozen">
        It can still read, but it can’t move money {until}.
      </TextNotice>
    )}
    {!live && <Notice title={grant.kind === 'oauth' ? 'This agent was revoked' : 'This key no longer works'} />}
    <div className="split">
      <div className="stack">
        <Card title="Limits" note="Payments on their way or waiting for approval count as used." actions={limitActions}>
          <GrantUsage grant={grant} />
          <LimitFacts grant={grant} />
        </Card>
        <AgentTimeline grant={grant} />
        <MadeByAgent grantId={grant.id} label={grant.label} />
        <Payments grant={grant} />
      </div>
      <Aside grant={grant} facts={facts} />
    </div>
  </>
)

const LimitFacts = ({ grant: { spending_controls: controls } }: Pick<Props, 'grant'>) => {
  const { currency } = useSession()
  const nameOf = useBeneficiaryNames(controls.beneficiary_ids ?? [])
  if (Object.keys(controls).every((name) => name === 'on_duplicate'))
    return (
      <TextNotice tone="warn" title="No limits">
        Only policies and the balance limit what it can spend.
      </TextNotice>
    )
  return (
    <Facts
      facts={{
        'Per-payment limit': controls.per_payment_limit_minor && moneyText(controls.per_payment_limit_minor, currency),
        'Requires approval':
          controls.approval_threshold_minor && `At or above ${moneyText(controls.approval_threshold_minor, currency)}`,
        Beneficiaries: controls.beneficiary_ids && listWords(controls.beneficiary_ids.map(nameOf), 'or'),
        'New beneficiaries': answerWords[controls.new_payees ?? 'require_approval'],
        'A repeated payment': controls.on_duplicate && answerWords[controls.on_duplicate],
        'Payment types': controls.payment_types && listWords(controls.payment_types.map(typeLabel), 'or'),
      }}
    />
  )
}

/** Its payments, by day and one by one. They belong to its workspace, so they are shown only there. */
const Payments = ({ grant }: Pick<Props, 'grant'>) => {
  const { workspace, can, currency } = useSession()
  const enabled = grant.workspace_id === workspace.id && can('payment.read')
  const filter = { grant_id: grant.id }
  const summary = useQuery({ ...paymentsSummaryQuery(filter), enabled })
  const payments = { ...paymentsQuery(filter, 10), enabled }
  if (!enabled) return null
  const days = summary.data?.by_day.map(({ date, amount_minor: up }) => ({ date, up })) ?? []
  return (
    <>
      {summary.data && summary.data.count > 0 && (
        <Card title="Spent by day" note="Sent or being sent, last 30 days">
          <DayChart days={days} currency={currency} names={{ up: 'Spent' }} />
        </Card>
      )}
      <Listing
        title="Payments"
        note={summary.data && countWords(summary.data.count, 'payment')}
        actions={
          <Link href={`/payments?agent=${grant.id}`} className="small">
            View all
          </Link>
        }
        query={payments}
        rows={3}
        whole
        empty={<Empty icon="payments" title="No payments yet" />}
      >
        {(rows) => <PaymentsTable payments={rows} without="requester" />}
      </Listing>
    </>
  )
}

const stateOf = ({ revoked_at: revoked, frozen }: Grant): ReactNode =>
  revoked === null ? <StatusBadge status={frozen ? 'frozen' : 'active'} /> : <Badge>Revoked</Badge>

const Aside = ({ grant, facts }: Pick<Props, 'grant' | 'facts'>) => (
  <div className="stack split-aside">
    <Card title="Details">
      <Facts
        facts={{
          Kind: grant.kind === 'oauth' ? 'Agent (OAuth)' : 'API key',
          Status: stateOf(grant),
          ...facts,
          Created: <ExactTime at={grant.created_at} />,
          'Last used': grant.last_used_at ? <Time at={grant.last_used_at} /> : 'Never',
          Expires: grant.expires_at ? <ExactTime at={grant.expires_at} /> : 'Never',
          '': <CopyButton value={grant.id}>Copy ID</CopyButton>,
        }}
      />
    </Card>
    <Card title={`Permissions (${grant.permissions.length})`}>
      <ul className="stack-xs small">
        {grant.permissions.map((permission) => (
          <li key={permission}>{wordsOfPermission(permission)}</li>
        ))}
      </ul>
    </Card>
  </div>
)

type UsageProps = { grant: Pick<Schemas['Grant'], 'usage' | 'spending_controls'> }

const leftOf = (limit: string, used: string): string => {
  const left = BigInt(limit) - BigInt(used)
  return left > 0n ? left.toString() : '0'
}

export const GrantUsage = ({ grant }: UsageProps) => {
  const { currency } = useSession()
  const periods = [
    { name: 'Used today', used: grant.usage.today_minor, limit: grant.spending_controls.daily_limit_minor },
    { name: 'Used this month', used: grant.usage.month_minor, limit: grant.spending_controls.monthly_limit_minor },
    { name: 'Used in all', used: grant.usage.total_minor, limit: grant.spending_controls.total_limit_minor },
  ]
  return (
    <div className="columns">
      {periods.map(({ name, used, limit }) => (
        <div key={name} className="stack-xs">
          <p className="small">
            <span className="faint">{name}</span> {moneyText(used, currency)}
            {limit !== undefined && (
              <span className="faint">
                {' '}
                of {moneyText(limit, currency)}, {moneyText(leftOf(limit, used), currency)} left
              </span>
            )}
          </p>
          {limit !== undefined && <Meter used={used} limit={limit} currency={currency} label={name} />}
        </div>
      ))}
    </div>
  )
}
