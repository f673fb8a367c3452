import { type Decision, decisionReason } from '../../lib/decision-words.ts'
import { countWords } from '../../lib/list-words.ts'
import { compareMinor, moneyText } from '../../lib/money.ts'
import type { IconName } from '../../ui/icon.tsx'

export type Verdict = {
  kind: 'send' | 'approval' | 'refused' | 'no_money'
  tone: 'good' | 'warn' | 'bad'
  icon: IconName
  title: string
  text: string
}

/** What will happen, in one line. The balance counts where it is the person's own. */
export const verdictOf = (decision: Decision, amountMinor: string, available: string | null, currency: string): Verdict => {
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
      text: `The amount is held until then. ${decisionReason(decision)}`,
    }
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
