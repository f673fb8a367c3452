import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { api } from '../../api/queries.ts'
import { useDebounced } from '../../lib/drafts.ts'
import { type Decision, decisionReason, remedyWords } from '../../lib/rule-words.ts'
import { fullTime, pageZone, zoneWords } from '../../lib/time.ts'
import { compareMinor, countWords, feeWords, moneyText, parseMajor, sumMinor } from '../../lib/words.ts'
import { useSession } from '../../shell/session.tsx'
import { cx, Icon, type IconName, LinkButton } from '../../ui/button.tsx'
import { DecisionTrace } from '../../ui/decision-trace.tsx'
import { Card, Failure, SkeletonText } from '../../ui/page.tsx'
import { readSendTime, type SendTime, sendNow } from '../../ui/send-later.tsx'
import { type AboutPayment, WarningNotices } from '../approvals/facts.tsx'

export type Draft = {
  beneficiary_id: string
  amount_minor: string
  payment_type?: string
  mandate_id?: string
  execute_at?: string
}

type Simulation = Decision & { fee_minor: string }

/** Simulates the payment each time typing pauses. `decision` is for the current draft; null until it is known. */
export const useDryRun = (draft: Draft | null) => {
  const settled = useDebounced(draft)
  const query = useQuery({
    queryKey: ['payments', 'dry-run', settled],
    queryFn: async () => {
      if (!settled) return null
      const decision = await api.POST('/v1/spending-policies/simulate', { body: settled })
      // The rules are always in the answer to a simulation.
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

/** Keeps the last answer visible, faded, while the next one loads, so that nothing moves while typing. */
export const DryRun = ({ draft, run, beneficiary }: DryRunProps) => {
  const { balance, currency } = useSession()
  const { query, simulated, decision } = run
  const available = balance?.available_minor ?? null
  return (
    <Card title="What will happen">
      <div className={cx('stack dry-run', !decision && 'is-stale')}>
        {!draft && (
          <p className="quiet">
            Choose a beneficiary and an amount. We check your policies as you type, before anything is sent.
          </p>
        )}
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
      <p className="quiet">{verdict.text}</p>
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
      {fee && <p>Fee: {fee}</p>}
      <WarningNotices warnings={decision.warnings} about={about} currency={currency} />
      {remedies.length > 0 && (
        <ul className="stack-xs small quiet">
          {remedies.map((remedy) => (
            <li key={remedy}>{remedy}</li>
          ))}
        </ul>
      )}
      {verdict.kind === 'no_money' && can('topup.create') && (
        <LinkButton href="/top-up" icon="topup">
          Top up
        </LinkButton>
      )}
      <details>
        <summary className="small quiet">Policy checks ({decision.rules_considered ?? decision.trace?.length ?? 0})</summary>
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

/** What will happen, in one line. The balance counts where it is the person's own, and for what is sent at once. */
export const verdictOf = (decision: Simulation, terms: Terms, balance: string | null, currency: string): Verdict => {
  const { amount_minor: amount, execute_at: dueAt } = terms
  const amountMinor = sumMinor([amount, decision.fee_minor])
  const available = dueAt === undefined ? balance : null
  if (decision.outcome === 'deny')
    return { kind: 'refused', tone: 'bad', icon: 'cross', title: 'It will be refused', text: decisionReason(decision) }
  if (available !== null && compareMinor(amountMinor, available) > 0) {
    const missing = (BigInt(amountMinor) - BigInt(available)).toString()
    return {
      kind: 'no_money',
      tone: 'bad',
      icon: 'alert',
      title: 'Not enough money',
      text: `${moneyText(available, currency)} is available, ${moneyText(missing, currency)} short.`,
    }
  }
  if (decision.outcome === 'require_approval') {
    const waits = countWords(decision.required_approvals - decision.approvals_by_mandate, 'approval')
    const duties = decision.separation_of_duties ? ' from someone other than you' : ''
    return {
      kind: 'approval',
      tone: 'warn',
      icon: 'clock',
      title: `It needs ${waits}${duties}`,
      text: `${dueAt === undefined ? 'The amount is held until then.' : `It must be approved by ${dueWords(dueAt)}.`} ${decisionReason(decision)}`,
    }
  }
  if (dueAt !== undefined)
    return {
      kind: 'later',
      tone: 'good',
      icon: 'clock',
      title: 'It will be sent later',
      text: `At ${dueWords(dueAt)}, if the limits and the balance allow it then. No money is held until that time.`,
    }
  return {
    kind: 'send',
    tone: 'good',
    icon: 'check',
    title: 'It will be sent right away',
    text:
      available === null
        ? 'No policy blocks this.'
        : `Balance afterwards: ${moneyText((BigInt(available) - BigInt(amountMinor)).toString(), currency)}.`,
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

/** The body of the dry run; null while the beneficiary, the amount or the time is missing. */
export const draftOf = ({ beneficiary, amount, type, mandate, time }: PaymentFields): Draft | null => {
  const minor = parseMajor(amount)
  if (beneficiary === '' || minor === null || minor === '0') return null
  const read = readSendTime(time)
  if ('problem' in read) return null
  return {
    beneficiary_id: beneficiary,
    amount_minor: minor,
    ...(type.trim() && { payment_type: type.trim() }),
    ...(mandate && { mandate_id: mandate }),
    ...(read.at !== null && { execute_at: read.at }),
  }
}

export const bodyOf = (draft: Draft, { reference, narrative, purposeCode }: PaymentFields) => ({
  ...draft,
  ...(reference.trim() && { account_reference: reference.trim() }),
  ...(narrative.trim() && { narrative: narrative.trim() }),
  ...(purposeCode.trim() && { purpose_code: purposeCode.trim().toUpperCase() }),
})
