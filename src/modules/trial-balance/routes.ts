import type { App } from '../../http/app-type.ts'
import { routesOf } from '../../http/routes.ts'
import { type TrialBalanceLine, trialBalance } from '../../ledger/reports.ts'
import { formatMinor } from '../../lib/money.ts'
import type { Parts } from '../parts.ts'
import { TrialBalance } from './schema.ts'

type Amounts = Omit<TrialBalanceLine, 'code' | 'kind'>

const presentSides = (amounts: Amounts) => ({
  debits_minor: formatMinor(amounts.debitsMinor),
  credits_minor: formatMinor(amounts.creditsMinor),
  pending_debits_minor: formatMinor(amounts.pendingDebitsMinor),
  pending_credits_minor: formatMinor(amounts.pendingCreditsMinor),
})

const sum = (lines: readonly Amounts[], name: keyof Amounts): bigint => lines.reduce((total, line) => total + line[name], 0n)

export const presentTrialBalance = (lines: readonly TrialBalanceLine[], currency: string): TrialBalance => {
  const totals = {
    debitsMinor: sum(lines, 'debitsMinor'),
    creditsMinor: sum(lines, 'creditsMinor'),
    pendingDebitsMinor: sum(lines, 'pendingDebitsMinor'),
    pendingCreditsMinor: sum(lines, 'pendingCreditsMinor'),
  }
  return {
    currency,
    lines: lines.map((line) => ({ account: line.code, ...presentSides(line) })),
    totals: presentSides(totals),
    balanced: totals.debitsMinor === totals.creditsMinor && totals.pendingDebitsMinor === totals.pendingCreditsMinor,
  }
}

export const registerAdminLedger = (app: App, deps: Parts): void => {
  const routes = routesOf(app, deps)
  routes.get('/v1/admin/ledger/trial-balance', {
    config: { operation: 'admin.trial_balance', access: 'admin' },
    schema: {
      summary: 'Read the trial balance',
      description: 'Every ledger account with its debits and credits, which are equal in total.',
      response: { 200: TrialBalance },
    },
    read: async () => presentTrialBalance(await trialBalance(deps.db), deps.config.CURRENCY),
  })
}
