import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { paymentsQuery, paymentsSummaryQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { useBeneficiaryNames } from '../../api/use-beneficiaries.ts'
import { countWords, listWords } from '../../lib/list-words.ts'
import { moneyText } from '../../lib/money.ts'
import { wordsOfPermission } from '../../lib/permission-words.ts'
import { typeLabel } from '../../lib/rails.ts'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { DayChart } from '../../ui/day-chart.tsx'
import { Card, Empty, Facts, Notice } from '../../ui/layout.tsx'
import { Listing } from '../../ui/listing.tsx'
import { Badge, StatusBadge } from '../../ui/status.tsx'
import { ExactTime, Time } from '../../ui/time.tsx'
import { AgentTimeline } from '../agents/agent-timeline.tsx'
import { MadeByAgent } from '../agents/made-by-agent.tsx'
import { PaymentsTable } from '../payments/payments-table.tsx'
import { GrantUsage } from './grant-usage.tsx'

type Grant = Schemas['Grant']
type ActionsProps = { frozen: boolean; onFreeze: () => void; onRevoke: () => void; children?: ReactNode }

export const GrantActions = ({ frozen, onFreeze, onRevoke, children }: ActionsProps) => (
  <>
    <Button icon="freeze" onClick={onFreeze}>
      {frozen ? 'Unfreeze' : 'Freeze'}
    </Button>
    {children}
    <Button variant="danger" onClick={onRevoke}>
      Revoke
    </Button>
  </>
)

type Props = {
  grant: Grant
  live: boolean
  /** Who ends a freeze, as the sentence goes on. */
  until: string
  /** What only this page shows. */
  facts: Readonly<Record<string, ReactNode>>
  limitActions?: ReactNode
}

/** A key or an agent, for its owner and for who manages the workspace: its state, limits, payments and details. */
export const GrantView = ({ grant, live, until, facts, limitActions }: Props) => (
  <>
    {grant.frozen && live && (
      <Notice tone="info" title="Frozen">
        <p className="quiet">It can still read, but it can’t move money {until}.</p>
      </Notice>
    )}
    {!live && <Notice title={grant.kind === 'oauth' ? 'This agent was revoked' : 'This key no longer works'} />}
    <div className="split">
      <div className="stack">
        <Card title="Limits" note="Payments on their way or waiting for approval count as used." actions={limitActions}>
          <div className="stack">
            <GrantUsage grant={grant} />
            <LimitFacts grant={grant} />
          </div>
        </Card>
        <AgentTimeline grant={grant} />
        <MadeByAgent grantId={grant.id} label={grant.label} />
        <Payments grant={grant} />
      </div>
      <Aside grant={grant} facts={facts} />
    </div>
  </>
)

const newPayeeWords = {
  allow: 'Paid without asking',
  require_approval: 'You are asked once about each',
  deny: 'Refused',
} as const

const duplicateWords = {
  warn: 'Paid with a warning',
  confirm: 'Refused until it says that a second one is meant',
  require_approval: 'Needs approval',
  deny: 'Refused',
} as const

/** The limits in words; their use is shown above. */
const LimitFacts = ({ grant: { spending_controls: controls } }: Pick<Props, 'grant'>) => {
  const { currency } = useSession()
  const nameOf = useBeneficiaryNames(controls.beneficiary_ids ?? [])
  if (Object.keys(controls).every((name) => name === 'on_duplicate'))
    return (
      <Notice tone="warn" title="No limits">
        <p className="quiet">Only policies and the balance limit what it can spend.</p>
      </Notice>
    )
  return (
    <Facts
      facts={{
        'Per-payment limit': controls.per_payment_limit_minor && moneyText(controls.per_payment_limit_minor, currency),
        'Requires approval':
          controls.approval_threshold_minor && `At or above ${moneyText(controls.approval_threshold_minor, currency)}`,
        Beneficiaries: controls.beneficiary_ids && listWords(controls.beneficiary_ids.map(nameOf), 'or'),
        'New beneficiaries': newPayeeWords[controls.new_payees ?? 'require_approval'],
        'A repeated payment': controls.on_duplicate && duplicateWords[controls.on_duplicate],
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
  const payments = useInfiniteQuery({ ...paymentsQuery(filter, 10), enabled })
  if (!enabled) return null
  const days = summary.data?.by_day.map(({ date, amount_minor: up }) => ({ date, up })) ?? []
  return (
    <>
      {summary.data && summary.data.count > 0 && (
        <Card title="Spent by day" note="Sent or being sent, last 30 days">
          <DayChart days={days} currency={currency} names={{ up: 'Spent' }} />
        </Card>
      )}
      <Card
        title="Payments"
        note={summary.data && countWords(summary.data.count, 'payment')}
        actions={
          <Link href={`/payments?agent=${grant.id}`} className="small">
            View all
          </Link>
        }
        flush
      >
        <Listing query={payments} rows={3} whole empty={<Empty icon="payments" title="No payments yet" />}>
          {(rows) => <PaymentsTable payments={rows} without="requester" />}
        </Listing>
      </Card>
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
