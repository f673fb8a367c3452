import { type Decision, decisionReason } from '../../lib/decision-words.ts'
import { countWords } from '../../lib/list-words.ts'
import { compareMinor, moneyText } from '../../lib/money.ts'
import { fullTime } from '../../lib/time.ts'
import { pageZone, zoneWords } from '../../lib/zone.ts'
import type { IconName } from '../../ui/icon.tsx'

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
export const verdictOf = (decision: Decision, terms: Terms, balance: string | null, currency: string): Verdict => {
  const { amount_minor: amountMinor, execute_at: dueAt } = terms
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
