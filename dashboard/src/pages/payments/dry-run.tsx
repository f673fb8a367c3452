import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { api } from '../../api/queries.ts'
import { cx } from '../../lib/class-names.ts'
import { useDebounced } from '../../lib/drafts.ts'
import { t } from '../../lib/language.ts'
import { type Decision, decisionReason, remedyWords } from '../../lib/rule-words.ts'
import { fullTime, pageZone, zoneWords } from '../../lib/time.ts'
import { compareMinor, feeWords, moneyText, parseMajor, sumMinor } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { LinkButton } from '../../ui/button.tsx'
import { DecisionTrace } from '../../ui/decision-trace.tsx'
import { Icon, type IconName } from '../../ui/icon.tsx'
import { Card, Failure, SkeletonText } from '../../ui/page.tsx'
import { readSendTime, type SendTime, sendNow } from '../../ui/send-later.tsx'
import { type AboutPayment, WarningNotices } from '../approvals/facts.tsx'
import { tPay } from './texts.ts'

export type Draft = {
  beneficiary_id: string
  amount_minor: string
  account_reference?: string
  payment_type?: string
  mandate_id?: string
  execute_at?: string
}

type Simulation = Decision & { fee_minor: string }

/** Simulates the payment each time typing pauses. `decision` belongs to the current draft; null until known. */
export const useDryRun = (draft: Draft | null) => {
  const settled = useDebounced(draft)
  const query = useQuery({
    queryKey: ['payments', 'dry-run', settled],
    queryFn: async () => {
      if (!settled) return null
      const decision = await api.POST('/v1/spending-policies/simulate', { body: settled })
      // A simulation always returns a trace, although the type makes it optional.
      return { ...decision, trace: decision.trace ?? [] }
    },
    enabled: settled !== null,
    placeholderData: keepPreviousData,
    staleTime: 0,
  })
  const current = JSON.stringify(settled) === JSON.stringify(draft) && !query.isPlaceholderData
  return { query, simulated: settled, decision: current ? (query.data ?? null) : null }
}

type DryRunProps = { draft: Draft | null; run: ReturnType<typeof useDryRun>; beneficiary: string }

/** Result of the dry run. The last result stays visible, faded, while the next one loads, so that nothing moves. */
export const DryRun = ({ draft, run, beneficiary }: DryRunProps) => {
  const { balance, currency } = useSession()
  const { query, simulated, decision } = run
  const available = balance?.available_minor ?? null
  return (
    <Card title={tPay('will')}>
      <div className={cx('stack dry-run', !decision && 'is-stale')}>
        {!draft && <p className="muted">{tPay('will.note')}</p>}
        {draft && query.isPending && (
          <div className="stack-s">
            <SkeletonText width="70%" height={18} />
            <SkeletonText width="90%" />
          </div>
        )}
        {draft && query.isError && <Failure error={query.error} onRetry={() => void query.refetch()} />}
        {draft && simulated && query.data && (
          <Outcome
            decision={query.data}
            verdict={verdictOf(query.data, simulated, available, currency)}
            about={{ beneficiary, amount_minor: simulated.amount_minor }}
            fee={feeWords(simulated.amount_minor, query.data.fee_minor, currency)}
          />
        )}
      </div>
    </Card>
  )
}

export const VerdictLine = ({ verdict }: { verdict: Verdict }) => (
  <div className="row row-top verdict" role="status">
    <span className={`avatar tone-${verdict.tone}`}>
      <Icon name={verdict.icon} />
    </span>
    <div>
      <h3>{verdict.title}</h3>
      <p className="muted">{verdict.text}</p>
    </div>
  </div>
)

type OutcomeProps = { decision: Decision; verdict: Verdict; about: AboutPayment; fee: string | null }

const Outcome = ({ decision, verdict, about, fee }: OutcomeProps) => {
  const { currency, can } = useSession()
  const remedies = decision.outcome === 'deny' ? remedyWords(decision, currency) : []
  return (
    <>
      <VerdictLine verdict={verdict} />
      {fee && <p>{t('fee_is', { fee })}</p>}
      <WarningNotices warnings={decision.warnings} about={about} currency={currency} />
      {remedies.length > 0 && (
        <ul className="stack-xs small muted">
          {remedies.map((remedy) => (
            <li key={remedy}>{remedy}</li>
          ))}
        </ul>
      )}
      {verdict.kind === 'no_money' && can('topup.create') && (
        <LinkButton href="/top-up" icon="topup">
          {t('top_up')}
        </LinkButton>
      )}
      <details>
        <summary className="small muted">
          {tPay('checks', { rules_considered: decision.rules_considered ?? decision.trace?.length ?? 0 })}
        </summary>
        <DecisionTrace decision={decision} currency={currency} />
      </details>
    </>
  )
}

export type Verdict = {
  kind: 'send' | 'later' | 'approval' | 'refused' | 'no_money'
  tone: 'good' | 'warn' | 'bad'
  icon: IconName
  title: string
  text: string
}

/** "2 Dec 2026, 09:00 (Nairobi time)". */
export const dueWords = (at: string): string => {
  const zone = pageZone()
  return `${fullTime(at)}${zone ? ` (${zoneWords(zone)})` : ''}`
}

type Terms = { amount_minor: string; execute_at?: string }

/** The outcome in one line. Checks the balance only if the person may see it and the payment is not scheduled. */
export const verdictOf = (decision: Simulation, terms: Terms, balance: string | null, currency: string): Verdict => {
  const { amount_minor: amount, execute_at: dueAt } = terms
  const amountMinor = sumMinor([amount, decision.fee_minor])
  const available = dueAt === undefined ? balance : null
  if (decision.outcome === 'deny')
    return { kind: 'refused', tone: 'bad', icon: 'cross', title: tPay('refused'), text: decisionReason(decision) }
  if (available !== null && compareMinor(amountMinor, available) > 0) {
    const missing = (BigInt(amountMinor) - BigInt(available)).toString()
    return {
      kind: 'no_money',
      tone: 'bad',
      icon: 'alert',
      title: tPay('no_money'),
      text: tPay('no_money.note', { amount: moneyText(available, currency), amount2: moneyText(missing, currency) }),
    }
  }
  if (decision.outcome === 'require_approval') {
    const waits = t('approvals_count', { count: decision.required_approvals - decision.approvals_by_mandate })
    const duties = decision.separation_of_duties ? tPay('by_other') : ''
    return {
      kind: 'approval',
      tone: 'warn',
      icon: 'clock',
      title: tPay('waits', { waits, duties }),
      text: `${dueAt === undefined ? tPay('held_until') : tPay('must_by', { at: dueWords(dueAt) })} ${decisionReason(decision)}`,
    }
  }
  if (dueAt !== undefined)
    return {
      kind: 'later',
      tone: 'good',
      icon: 'clock',
      title: tPay('later'),
      text: tPay('later.note', { at: dueWords(dueAt) }),
    }
  return {
    kind: 'send',
    tone: 'good',
    icon: 'check',
    title: tPay('now'),
    text:
      available === null
        ? tPay('no_policy')
        : tPay('after', { amount: moneyText((BigInt(available) - BigInt(amountMinor)).toString(), currency) }),
  }
}

export type PaymentFields = {
  beneficiary: string
  amount: string
  reference: string
  narrative: string
  type: string
  purposeCode: string
  mandate: string
  time: SendTime
}

export const emptyPayment: PaymentFields = {
  beneficiary: '',
  amount: '',
  reference: '',
  narrative: '',
  type: '',
  purposeCode: '',
  mandate: '',
  time: sendNow,
}

/** Body of the dry run. Null while the beneficiary, the amount or the time is missing or invalid. */
export const draftOf = ({ beneficiary, amount, reference, type, mandate, time }: PaymentFields): Draft | null => {
  const minor = parseMajor(amount)
  if (beneficiary === '' || minor === null || minor === '0') return null
  const read = readSendTime(time)
  if ('problem' in read) return null
  return {
    beneficiary_id: beneficiary,
    amount_minor: minor,
    ...(reference.trim() && { account_reference: reference.trim() }),
    ...(type.trim() && { payment_type: type.trim() }),
    ...(mandate && { mandate_id: mandate }),
    ...(read.at !== null && { execute_at: read.at }),
  }
}

export const bodyOf = (draft: Draft, { narrative, purposeCode }: PaymentFields) => ({
  ...draft,
  ...(narrative.trim() && { narrative: narrative.trim() }),
  ...(purposeCode.trim() && { purpose_code: purposeCode.trim().toUpperCase() }),
})
