import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { api, call } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { cx } from '../../lib/class-names.ts'
import { useDebounced } from '../../lib/debounced.ts'
import { type Decision, decisionReason, remedyWords } from '../../lib/decision-words.ts'
import { countWords } from '../../lib/list-words.ts'
import { compareMinor, moneyText } from '../../lib/money.ts'
import { useSession } from '../../shell/session.tsx'
import { LinkButton } from '../../ui/button.tsx'
import { DecisionTrace } from '../../ui/decision-trace.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Icon, type IconName } from '../../ui/icon.tsx'
import { Card, SkeletonText } from '../../ui/layout.tsx'

export type Draft = { beneficiary_id: string; amount_minor: string; payment_type?: string; mandate_id?: string }

const isDecision = (simulation: Schemas['Simulation']): simulation is Schemas['Simulation'] & Decision =>
  simulation.outcome !== undefined && simulation.trace !== undefined

/** Asks what would happen, each time the draft has come to rest. `decision` is for the draft as it is now, or null while that is not known. */
export const useDryRun = (draft: Draft | null) => {
  const settled = useDebounced(draft)
  const query = useQuery({
    queryKey: ['payments', 'dry-run', settled],
    queryFn: async () => {
      if (!settled) return null
      const simulation = await call(api.POST('/v1/spending-policies/simulate', { body: settled }))
      return isDecision(simulation) ? simulation : null
    },
    enabled: settled !== null,
    placeholderData: keepPreviousData,
    staleTime: 0,
  })
  const current = JSON.stringify(settled) === JSON.stringify(draft) && !query.isPlaceholderData
  return { query, asked: settled, decision: current ? (query.data ?? null) : null }
}

export type Verdict = { tone: 'good' | 'warn' | 'bad'; icon: IconName; title: string; text: string }

/** What will happen, in one line. The balance is looked at as well where it is the reader's own. */
export const verdictOf = (decision: Decision, amountMinor: string, available: string | null, currency: string): Verdict => {
  if (decision.outcome === 'deny')
    return { tone: 'bad', icon: 'cross', title: 'It would be refused', text: decisionReason(decision, currency) }
  if (available !== null && compareMinor(amountMinor, available) > 0) {
    const missing = (BigInt(amountMinor) - BigInt(available)).toString()
    return {
      tone: 'bad',
      icon: 'alert',
      title: 'There is not enough money',
      text: `${moneyText(available, currency)} is available; ${moneyText(missing, currency)} is missing.`,
    }
  }
  if (decision.outcome === 'require_approval') {
    const waits = countWords(decision.required_approvals - decision.approvals_by_mandate, 'approval')
    const duties = decision.separation_of_duties ? ' by somebody other than you' : ''
    return {
      tone: 'warn',
      icon: 'clock',
      title: `It will wait for ${waits}${duties}`,
      text: `The amount is held until then. ${decisionReason(decision, currency)}`,
    }
  }
  return {
    tone: 'good',
    icon: 'check',
    title: 'It will be sent at once',
    text:
      available === null
        ? 'No rule stands against it.'
        : `${moneyText((BigInt(available) - BigInt(amountMinor)).toString(), currency)} will be left.`,
  }
}

type DryRunProps = { draft: Draft | null; run: ReturnType<typeof useDryRun> }

/** Keeps the last answer in sight, faded, while the next one is on its way: nothing jumps while somebody types. */
export const DryRun = ({ draft, run }: DryRunProps) => {
  const { account, ownsBalance, currency } = useSession()
  const { query, asked, decision } = run
  const available = ownsBalance ? account.balance.available_minor : null
  return (
    <Card title="What will happen">
      <div className={cx('stack dry-run', !decision && 'is-stale')}>
        {!draft && (
          <p className="quiet">Choose a beneficiary and an amount. The rules that apply are tried at once; nothing is sent.</p>
        )}
        {draft && query.isPending && (
          <div className="stack-s">
            <SkeletonText width="70%" height={18} />
            <SkeletonText width="90%" />
          </div>
        )}
        {draft && query.isError && <Failure error={query.error} onRetry={() => void query.refetch()} />}
        {draft && asked && query.data && (
          <Outcome decision={query.data} amountMinor={asked.amount_minor} available={available} currency={currency} />
        )}
      </div>
    </Card>
  )
}

type OutcomeProps = { decision: Decision; amountMinor: string; available: string | null; currency: string }

const Outcome = ({ decision, amountMinor, available, currency }: OutcomeProps) => {
  const verdict = verdictOf(decision, amountMinor, available, currency)
  const remedies = decision.outcome === 'deny' ? remedyWords(decision, currency) : []
  return (
    <>
      <div className="verdict" role="status">
        <span className={`avatar avatar-${verdict.tone}`}>
          <Icon name={verdict.icon} />
        </span>
        <div>
          <h3>{verdict.title}</h3>
          <p className="quiet">{verdict.text}</p>
        </div>
      </div>
      {remedies.length > 0 && (
        <ul className="stack-xs small quiet">
          {remedies.map((remedy) => (
            <li key={remedy}>{remedy}</li>
          ))}
        </ul>
      )}
      {verdict.icon === 'alert' && (
        <LinkButton href="/top-up" icon="topup">
          Top up
        </LinkButton>
      )}
      <details>
        <summary className="small quiet">Rules that were looked at ({decision.trace.length})</summary>
        <DecisionTrace decision={decision} currency={currency} />
      </details>
    </>
  )
}
