import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { type FactType, groupDigits } from '../../../../src/lib/approval-facts.ts'
import { api, nameChecksQuery, type Schemas } from '../../api/queries.ts'
import { approvalSubject, factsToSee } from '../../lib/approval-subject.ts'
import { balanceWords } from '../../lib/decision-effect.ts'
import { rich, t } from '../../lib/language.ts'
import { railFacts } from '../../lib/rails.ts'
import { nameBefore } from '../../lib/reported-names.ts'
import { decisionReason } from '../../lib/rule-words.ts'
import { capitalized, compareMinor, multipleOf, requesterWords, shortMoney } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { useChange } from '../../ui/form.tsx'
import { Amount, Countdown, Failure, StatusBadge, Time } from '../../ui/page.tsx'
import { FrozenBadge } from '../agents/agents.tsx'
import { SentAt } from './decide-dialog.tsx'
import { FactNotices } from './facts.tsx'

type Approval = Schemas['Approval']
type Props = {
  approval: Approval
  people: (accountId: string) => string
  /** "3 of 12", if several approvals wait. */
  place: string | null
  children: ReactNode
}

type Fact = { label: string; value: ReactNode; note?: ReactNode }

const twice = (minor: string): string => (BigInt(minor) * 2n).toString()

const comparison = (amountMinor: string, currency: string, payee: NonNullable<Approval['context']>['payee']): Fact => {
  const label = t('amount')
  const typical = payee?.typical_amount_minor ?? null
  if (typical === null)
    return payee && payee.payments_count > 0
      ? { label, value: t('card.nothing_usual'), note: t('card.too_few') }
      : { label, value: t('card.first'), note: t('card.nothing_to_compare') }
  const note = t('card.usually', { amount: shortMoney(typical, currency) })
  return compareMinor(amountMinor, twice(typical)) >= 0
    ? { label, value: t('card.times', { times: multipleOf(amountMinor, typical) }), note }
    : { label, value: t('card.usual'), note }
}

const lastPaid = (payee: NonNullable<Approval['context']>['payee']): Fact => ({
  label: t('card.last_paid'),
  value: payee?.last_paid_at ? <Time at={payee.last_paid_at} /> : t('card.never'),
  ...(payee &&
    payee.payments_count > 0 && { note: t('card.so_far', { payments: t('payments', { count: payee.payments_count }) }) }),
})

const askedBy = (approval: Approval, people: Props['people']): Fact => {
  const { initiatedBy } = approvalSubject(approval)
  const agent = initiatedBy.label !== null
  return {
    label: t('requested_by'),
    value: agent ? (
      <>
        {initiatedBy.label} <FrozenBadge by={initiatedBy} />
      </>
    ) : (
      capitalized(requesterWords(initiatedBy, people))
    ),
    note: <Time at={approval.created_at} before={agent ? t('card.by_agent') : ''} />,
  }
}

const factsOf = (approval: Approval, people: Props['people']): Fact[] => {
  const { payment, context, facts } = approval
  const asked = askedBy(approval, people)
  if (!payment) {
    const count = (type: FactType) => groupDigits(facts.find((fact) => fact.type === type)?.count ?? 0)
    return [
      { label: t('card.first_payments'), value: count('first_payment'), note: t('card.to_destination') },
      { label: t('card.far'), value: count('far_from_last'), note: t('card.far_note') },
      asked,
    ]
  }
  const payee = context?.payee ?? null
  return [comparison(payment.amount_minor, payment.currency, payee), lastPaid(payee), asked]
}

const railSays = ({ status, name }: Schemas['Verification']): string | null =>
  name === null ? null : t(status === 'match' || status === 'close_match' ? `rail.${status}` : 'rail.other', { name })

type ReportedProps = { verification: Schemas['Verification']; payment: Schemas['PaymentSummary'] }

const Reported = ({ verification, payment }: ReportedProps) => {
  const says = railSays(verification)
  if (says) return <p className={verification.status === 'no_match' ? 'bad-text strong' : 'muted'}>{says}</p>
  return verification.checked_at && <Unchecked at={verification.checked_at} payment={payment} />
}

/** Shown if the rail returned no name. A button asks the rail again. */
const Unchecked = ({ at, payment }: { at: string; payment: Schemas['PaymentSummary'] }) => {
  const { can, workspace } = useSession()
  const again = useChange(() => api.POST('/v1/beneficiaries/{id}/verify', { path: { id: payment.beneficiary.id } }), {
    announcement: t('rail.checking'),
    invalidates: ['beneficiary', 'approval', 'inbox'],
  })
  return (
    <div className="row">
      <p className="muted">{rich('rail.unchecked', { at: <Time at={at} /> })}</p>
      {can('beneficiary.manage') && workspace.id === payment.workspace_id && (
        <Button size="small" busy={again.isPending} onClick={() => again.mutate()}>
          {t('rail.check_now')}
        </Button>
      )}
      <Failure error={again.error} />
    </div>
  )
}

const NameBefore = ({ beneficiaryId }: { beneficiaryId: string }) => {
  const checks = useQuery(nameChecksQuery(beneficiaryId))
  const names = nameBefore(checks.data?.data ?? [])
  if (!names) return null
  const { last, before } = names
  const [at, since] = [<Time key="before" at={before.checked_at} />, <Time key="last" at={last.checked_at} />]
  return (
    <p className="bad-text">
      {rich('rail.before', { before: <bdi>{before.name}</bdi>, at, now: <bdi>{last.name}</bdi>, since })}
    </p>
  )
}

const Payee = ({ payment, context }: { payment: Schemas['PaymentSummary']; context: Approval['context'] }) => (
  <>
    <p className="decision-payee">
      <span className="muted">{t('to')}</span> {payment.beneficiary.display_name}
    </p>
    <p className="muted">
      {railFacts[payment.beneficiary.payment_rail].label}, <span className="mono">{payment.beneficiary.destination_mask}</span>
      {payment.account_reference && `, ${t('account_reference_is', { reference: payment.account_reference })}`}
    </p>
    {context?.payee && <Reported verification={context.payee.verification} payment={payment} />}
    {context?.payee && <NameBefore beneficiaryId={payment.beneficiary.id} />}
  </>
)

/** One decision: amount, beneficiary, warnings, three facts, reason and buttons. */
export const DecisionCard = ({ approval, people, place, children }: Props) => {
  const { payment } = approval
  const subject = approvalSubject(approval)
  const pending = approval.status === 'pending'
  return (
    <section className="card decision-card" aria-label={t('card.what')}>
      <div className="row row-between">
        <span className="faint small">{place}</span>
        {pending ? (
          <span className="badge tone-warn">
            <Countdown to={approval.expires_at} />
          </span>
        ) : (
          <StatusBadge status={approval.status} />
        )}
      </div>
      <div>
        <Amount minor={subject.amountMinor} currency={subject.currency} size="hero" />
        {subject.fee && <p className="muted">{t('fee_is', { fee: subject.fee })}</p>}
        {payment ? <Payee payment={payment} context={approval.context} /> : <p className="decision-payee">{subject.title}</p>}
        {subject.note && <p className="decision-purpose">{subject.note}</p>}
        <SentAt at={subject.sentAt} />
      </div>
      <FactNotices facts={factsToSee(approval)} of={subject.count} currency={subject.currency} />
      <dl className="decision-facts">
        {factsOf(approval, people).map(({ label, value, note }) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd className="strong">{value}</dd>
            {note && <dd className="muted small">{note}</dd>}
          </div>
        ))}
      </dl>
      <p className="decision-why">
        <span className="muted">{t('card.why')}</span>
        {subject.reason}
        {pending && payment && approval.decision_now?.outcome === 'deny' && (
          <span className="block bad-text">{t('card.refused_now', { reason: decisionReason(approval.decision_now) })}</span>
        )}
        {pending && <span className="block muted small">{balanceWords(approval)}</span>}
      </p>
      {children}
    </section>
  )
}
