import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { useBeneficiaryNames } from '../../api/names.ts'
import { paymentsQuery, paymentsSummaryQuery, type Schemas } from '../../api/queries.ts'
import { t } from '../../lib/language.ts'
import { wordsOfPermission } from '../../lib/permission-words.ts'
import { typeLabel } from '../../lib/rails.ts'
import { answerWords } from '../../lib/rule-words.ts'
import { leftOf, listWords, moneyText } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { DayChart } from '../../ui/day-chart.tsx'
import { ConfirmButton } from '../../ui/form.tsx'
import { lazyPart } from '../../ui/lazy.tsx'
import { Listing } from '../../ui/listing.tsx'
import { Meter } from '../../ui/meter.tsx'
import { Badge, Card, Empty, ExactTime, Facts, Notice, SkeletonCard, StatusBadge, TextNotice, Time } from '../../ui/page.tsx'
import { FreezeToggle } from '../agents/agents.tsx'
import { tAgent } from '../agents/texts.ts'
import { PaymentsTable } from '../payments/payments-table.tsx'

const AgentTimeline = lazyPart(
  async () => (await import('../agents/agent-timeline.tsx')).AgentTimeline,
  () => <SkeletonCard rows={4} />,
)
const MadeByAgent = lazyPart(async () => (await import('../agents/made-by-agent.tsx')).MadeByAgent)

type Grant = Schemas['Grant']
type ActionsProps = {
  grant: Grant
  /** Whether the grant belongs to the reader. */
  own: boolean
  revoke: () => Promise<unknown>
  effect: string
  children?: ReactNode
}

export const GrantActions = ({ grant, own, revoke, effect, children }: ActionsProps) => (
  <>
    <FreezeToggle agent={grant} own={own} />
    {children}
    <RevokeButton label={grant.label} revoke={revoke} effect={effect} />
  </>
)

type RevokeProps = Pick<ActionsProps, 'revoke' | 'effect'> & { label: string; small?: boolean }

export const RevokeButton = ({ label, revoke, effect, small = false }: RevokeProps) => (
  <ConfirmButton
    button={{
      variant: 'danger',
      ...(small && { size: 'small', label: tAgent('revoke.what', { label }) }),
      children: tAgent('revoke'),
    }}
    title={tAgent('revoke.title', { label })}
    action={tAgent('revoke')}
    change={revoke}
    announcement={() => tAgent('revoked', { label })}
    invalidates={['api-keys', 'grants', 'grant', 'audit']}
  >
    <p>{effect}</p>
  </ConfirmButton>
)

type Props = {
  grant: Grant
  /** Whether the grant can still be used: neither revoked nor expired. */
  live: boolean
  /** Effect of a freeze, and who can end it. */
  frozenText: string
  facts: Readonly<Record<string, ReactNode>>
  limitActions?: ReactNode
}

/** A key or an agent for its owner and for workspace managers: state, limits, payments and details. */
export const GrantView = ({ grant, live, frozenText, facts, limitActions }: Props) => (
  <>
    {grant.frozen && live && (
      <TextNotice tone="info" title={t('status.frozen')}>
        {frozenText}
      </TextNotice>
    )}
    {!live && <Notice title={grant.kind === 'oauth' ? tAgent('agent_revoked') : tAgent('key_dead')} />}
    <div className="split">
      <div className="stack">
        <Card title={tAgent('limits')} note={tAgent('limits.note')} actions={limitActions}>
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
  // `on_duplicate` alone is not a limit.
  if (Object.keys(controls).every((name) => name === 'on_duplicate'))
    return (
      <TextNotice tone="warn" title={tAgent('no_limits')}>
        {tAgent('no_limits.note')}
      </TextNotice>
    )
  return (
    <Facts
      facts={{
        [tAgent('per_payment')]: controls.per_payment_limit_minor && moneyText(controls.per_payment_limit_minor, currency),
        [tAgent('requires')]:
          controls.approval_threshold_minor &&
          tAgent('from_amount', { amount: moneyText(controls.approval_threshold_minor, currency) }),
        [t('nav.beneficiaries')]: controls.beneficiary_ids && listWords(controls.beneficiary_ids.map(nameOf), 'or'),
        [tAgent('new_payees')]: answerWords(controls.new_payees ?? 'require_approval'),
        [tAgent('repeated')]: controls.on_duplicate && answerWords(controls.on_duplicate),
        [tAgent('types')]: controls.payment_types && listWords(controls.payment_types.map(typeLabel), 'or'),
      }}
    />
  )
}

/** Payments of the grant, by day and one by one. Shown only in the grant's own workspace. */
const Payments = ({ grant }: Pick<Props, 'grant'>) => {
  const { workspace, can, currency } = useSession()
  const enabled = grant.workspace_id === workspace.id && can('payment.read')
  const filter = { grant_id: grant.id }
  const summary = useQuery({ ...paymentsSummaryQuery(filter), enabled })
  const payments = { ...paymentsQuery(filter, 10), enabled }
  if (!enabled) return null
  const days = summary.data?.by_day.map(({ date, amount_minor: spent }) => ({ date, spent })) ?? []
  return (
    <>
      {summary.data && summary.data.count > 0 && (
        <Card title={tAgent('by_day')} note={tAgent('by_day.note')}>
          <DayChart days={days} currency={currency} />
        </Card>
      )}
      <Listing
        title={t('payments_label')}
        note={summary.data && t('payments', { count: summary.data.count })}
        actions={
          <Link href={`/payments?agent=${grant.id}`} className="small">
            {t('view_all')}
          </Link>
        }
        query={payments}
        rows={3}
        firstPageOnly
        empty={<Empty icon="payments" title={t('no_payments')} />}
      >
        {(rows) => <PaymentsTable payments={rows} without="requester" />}
      </Listing>
    </>
  )
}

const stateOf = ({ revoked_at: revoked, frozen }: Grant): ReactNode =>
  revoked === null ? <StatusBadge status={frozen ? 'frozen' : 'active'} /> : <Badge>{t('status.revoked')}</Badge>

const Aside = ({ grant, facts }: Pick<Props, 'grant' | 'facts'>) => (
  <div className="stack split-aside">
    <Card title={t('details')}>
      <Facts
        facts={{
          [tAgent('kind')]: grant.kind === 'oauth' ? tAgent('kind.agent') : tAgent('kind.key'),
          [t('status')]: stateOf(grant),
          ...facts,
          [tAgent('created')]: <ExactTime at={grant.created_at} />,
          [tAgent('last_used')]: grant.last_used_at ? <Time at={grant.last_used_at} /> : tAgent('never'),
          [tAgent('expires')]: grant.expires_at ? <ExactTime at={grant.expires_at} /> : tAgent('never'),
          '': <CopyButton value={grant.id}>{t('copy_id')}</CopyButton>,
        }}
      />
    </Card>
    <Card title={tAgent('permissions', { length: grant.permissions.length })}>
      <ul className="stack-xs small">
        {grant.permissions.map((permission) => (
          <li key={permission}>{wordsOfPermission(permission)}</li>
        ))}
      </ul>
    </Card>
  </div>
)

export const GrantUsage = ({ grant }: { grant: Pick<Schemas['Grant'], 'usage' | 'spending_controls'> }) => {
  const { currency } = useSession()
  const periods = [
    { name: tAgent('used.today'), used: grant.usage.today_minor, limit: grant.spending_controls.daily_limit_minor },
    { name: tAgent('used.month'), used: grant.usage.month_minor, limit: grant.spending_controls.monthly_limit_minor },
    { name: tAgent('used.all'), used: grant.usage.total_minor, limit: grant.spending_controls.total_limit_minor },
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
                {tAgent('of_left', { amount: moneyText(limit, currency), amount2: moneyText(leftOf({ used, limit }), currency) })}
              </span>
            )}
          </p>
          {limit !== undefined && <Meter used={used} limit={limit} currency={currency} label={name} />}
        </div>
      ))}
    </div>
  )
}
